;; A scorer that is told what to say. The case's output spells an image of memory, two letters a byte (`a`
;; for 0 to `p` for 15), which is put at 65536. Its first word is how many log records there are, its
;; second where the result lies; the log records (level, pointer, length) begin at its third.
(module
  (import "scorebox:scorer/log@0.1.0" "log" (func $log (param i32 i32 i32)))
  (memory (export "memory") 16)
  (global $next (mut i32) (i32.const 262144))

  (func (export "cabi_realloc") (param i32 i32 i32) (param $bytes i32) (result i32)
    (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
    (global.set $next (i32.add (local.get $at) (local.get $bytes)))
    (local.get $at))

  (func (export "scorebox:scorer/scoring@0.1.0#describe") (result i32) (i32.const 1024))
  (func (export "scorebox:scorer/scoring@0.1.0#configure") (param i32 i32) (result i32)
    (i32.const 2048))

  (func (export "scorebox:scorer/scoring@0.1.0#score") (param $case i32) (result i32)
    (local $from i32) (local $end i32) (local $to i32)
    (local.set $from (i32.load (local.get $case)))
    (local.set $end (i32.add (local.get $from) (i32.load offset=4 (local.get $case))))
    (local.set $to (i32.const 65536))
    (block $read
      (loop $pair
        (br_if $read (i32.ge_u (local.get $from) (local.get $end)))
        (i32.store8 (local.get $to)
          (i32.add
            (i32.shl (i32.sub (i32.load8_u (local.get $from)) (i32.const 97)) (i32.const 4))
            (i32.sub (i32.load8_u offset=1 (local.get $from)) (i32.const 97))))
        (local.set $to (i32.add (local.get $to) (i32.const 1)))
        (local.set $from (i32.add (local.get $from) (i32.const 2)))
        (br $pair)))
    (local.set $from (i32.const 65544))
    (local.set $end
      (i32.add (i32.const 65544) (i32.mul (i32.load (i32.const 65536)) (i32.const 12))))
    (block $logged
      (loop $record
        (br_if $logged (i32.ge_u (local.get $from) (local.get $end)))
        (call $log (i32.load (local.get $from)) (i32.load offset=4 (local.get $from))
          (i32.load offset=8 (local.get $from)))
        (local.set $from (i32.add (local.get $from) (i32.const 12)))
        (br $record)))
    (i32.load (i32.const 65540)))

  ;; `describe`: id, name, description and version are "told", "Told", "" and "1"; no schema; SCALE;
  ;; higher is better; reads nothing; soft; no threshold.
  (data (i32.const 1024)
    "\80\05\00\00\04\00\00\00\84\05\00\00\04\00\00\00\00\00\00\00\00\00\00\00\88\05\00\00\01\00\00\00"
    "\00\00\00\00\00\00\00\00\00\00\00\00SCALE\00\00\00\01")
  (data (i32.const 1408) "toldTold1")
)
