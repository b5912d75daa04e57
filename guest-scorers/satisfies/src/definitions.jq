# Filters of jq that jaq lacks or that behave differently there. A definition can only use earlier ones.

# Numbers
def abs: if type != "number" then error("\(type) (\(tojson)) has no absolute value") elif . < 0 then - . else . end;
def have_literal_numbers: true;
def have_decnum: false;
def toboolean:
  if type == "boolean" then . elif . == "true" then true elif . == "false" then false
  else error("\(type) (\(tojson)) cannot be parsed as a boolean") end;

# Texts
def ltrimstr($start):
  if type == "string" and ($start | type) == "string" and startswith($start) then .[$start | length:] else . end;
def rtrimstr($end):
  if type == "string" and ($end | type) == "string" and $end != "" and endswith($end)
  then .[:length - ($end | length)] else . end;
def trimstr($both): ltrimstr($both) | rtrimstr($both);
def cell(quoted):
  if type == "string" then quoted elif . == null then "" elif type == "number" or type == "boolean" then tostring
  else error("\(type) (\(tojson)) is not valid in a row") end;
def row(quoted; $between):
  if type == "array" then map(cell(quoted)) | join($between)
  else error("\(type) (\(tojson)) is not a row, which is an array") end;
def @csv: row("\"" + (split("\"") | join("\"\"")) + "\""; ",");
def @tsv: row(
    split("\\") | join("\\\\") | split("\t") | join("\\t") | split("\n") | join("\\n") | split("\r") | join("\\r"); "\t");
def format($name):
  if $name == "csv" then @csv elif $name == "tsv" then @tsv elif $name == "json" then @json
  elif $name == "text" then @text elif $name == "sh" then @sh
  else error("\($name | tojson) is not a known format") end;

# Arrays and objects
def index($what): indices($what) | .[0];
def rindex($what): indices($what) | .[-1:] | .[0];
def toarray: if type == "array" then . else [.] end;
def flatten($depth):
  if $depth < 0 then error("flatten depth must not be negative")
  else [.[] | if type == "array" and $depth > 0 then flatten($depth - 1)[] else . end] end;
def flatten: flatten(infinite);
def transpose: [range(map(length) | max // 0) as $column | [.[][$column]]];
def combinations:
  if length == 0 then [] else .[0][] as $first | .[1:] | combinations | [$first] + . end;
def combinations($times): . as $same | [range($times) | $same] | combinations;
def from_entries:
  reduce .[] as $entry ({};
    . + {($entry | if .key == null then .k // .name // .Name // .K // .Key else .key end
        | if type == "string" then . else tojson end):
      ($entry | if has("value") then .value elif has("v") then .v elif has("Value") then .Value else .V end)});
def with_entries(f): to_entries | map(f) | from_entries;
def walk(f): def inside: (if type == "object" then map_values(inside) elif type == "array" then map(inside) else . end) | f;
  inside;

# Paths
def del(f): delpaths([path(f)]);
def leaf_paths: paths(scalars);
def pick(f): . as $all | reduce path(f) as $path (null; setpath($path; $all | getpath($path)));
def tostream:
  . as $all
  | path(def inside: (.[]? | inside), .; inside) as $path
  | $all | getpath($path)
  | if (type == "array" or type == "object") and length > 0 then [$path + [keys_unsorted | last]] else [$path, .] end;
def fromstream(events):
  foreach events as $event ({};
    (if .done then {} else . end)
    | if $event | length > 1
      then (.done = ($event[0] | length == 0)) | setpath(["value"] + $event[0]; $event[1])
      else .done = ($event[0] | length == 1) end;
    if .done then .value else empty end);
def truncate_stream(events):
  . as $depth | null | events | if .[0] | length > $depth then .[0] |= .[$depth:] else empty end;

# As in SQL
def INDEX(rows; key): reduce rows as $row ({}; .[$row | key | tostring] = $row);
def INDEX(key): INDEX(.[]; key);
def IN(values): any(values == .; .);
def IN(these; values): any(these == values; .);
def JOIN($index; key): [.[] | [., $index[key]]];
def JOIN($index; rows; key): rows | [., $index[key]];
def JOIN($index; rows; key; joined): rows | [., $index[key]] | joined;

# Regular expressions
def match(re; flags): matches(re; flags)[] | .[0] + {captures: .[1:]};
def match(re): match(re; null);

# Output for a reader, whom a scorer does not have
def debug: .;
def debug(messages): (messages | empty), .;
def stderr: .;
