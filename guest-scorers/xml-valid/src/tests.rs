//! xml-valid, as a specification.

use serde_json::Value;

use super::*;

fn score(config: Value, output: &str) -> Score {
    let scorer: XmlValid = scorebox_sdk::configure(config).unwrap();
    scorer.score(&Case::new(json!(output))).unwrap()
}

fn valid(config: Value, output: &str) -> bool {
    score(config, output).score == Some(1.0)
}

#[test]
fn a_well_formed_document_counts() {
    let documents = [
        "<a/>",
        "<?xml version=\"1.0\"?>\n<!-- note -->\n<a b='1'><c>&lt;x&gt; &#65;</c></a>\n",
        "<a xmlns:n='urn:n'><n:b/></a>",
        "<a><![CDATA[<x>]]></a>",
        "<!DOCTYPE a [<!ENTITY e 'text'>]><a>&e;</a>",
        "\u{feff}<?xml version='1.0' encoding='UTF-8' standalone='yes'?><a/>",
        "<?xml\nversion=\"1.1\" ?><a/>",
        "<a><!-- &#xD800; <:b> --><![CDATA[&#x110000;]]><?xml-stylesheet x?></a>",
        "<a xmlns='urn:a'><b xmlns='' c=':' d='a:b:c'/></a>",
        "<a>&#x10FFFF;&#65533;</a>",
    ];
    for document in documents {
        assert!(valid(json!({}), document), "{document}");
    }
}

#[test]
fn anything_else_does_not() {
    let documents = [
        "",
        "text",
        "<a>",
        "<a></b>",
        "<a/><b/>",
        "<a/> text",
        "<a b=1/>",
        "<a b='1' b='2'/>",
        "<a>&nbsp;</a>",
        "<a>&</a>",
        "<n:a/>",
        "<1a/>",
        "<a><br></a>",
        " <?xml version='1.0'?><a/>",
        "<a>\u{1}</a>",
        "<!DOCTYPE a [<!ENTITY e '&e;'>]><a>&e;</a>",
    ];
    for document in documents {
        assert!(!valid(json!({}), document), "{document}");
    }
}

// XML 1.0 and its namespaces forbid all of them.
#[test]
fn what_the_parser_lets_through_is_refused() {
    let documents = [
        ("<a>&#x110000;</a>", "a character reference is to no character"),
        ("<a b=\"&#xD800;\"/>", "a character reference is to no character"),
        ("<?xml version=\"2.0\"?><a/>", "the XML declaration is not valid"),
        ("<?xml version='1.0' standalone='maybe'?><a/>", "the XML declaration is not valid"),
        ("<?xml version='1.0' encoding='8-bit'?><a/>", "the XML declaration is not valid"),
        ("<a><?XML x?></a>", "a processing instruction must not be called `xml`"),
        ("<a><?b:c x?></a>", "the name of a processing instruction must not have a colon"),
        ("<:a/>", "a name has an empty part before or after its colon, or several colons"),
        (
            "<a xmlns:p=\"\"/>",
            "a namespace prefix must not be declared as empty, nor may `xmlns` be declared",
        ),
        (
            "<a xmlns:xmlns=\"u\"/>",
            "a namespace prefix must not be declared as empty, nor may `xmlns` be declared",
        ),
    ];
    for (document, why) in documents {
        let score = score(json!({}), document);
        assert_eq!(score.score, Some(0.0), "{document}");
        assert_eq!(score.reason, Some(format!("not well-formed XML: {why}")), "{document}");
    }
    assert!(!valid(json!({"at": "anywhere"}), "so: <a>&#xD800;</a>"));
}

#[test]
fn elements_can_be_required_by_their_path() {
    let order = "<order><customer><name>Ada</name></customer><item/><item><price/></item></order>";
    let config = |paths: &[&str]| json!({"requiredElements": paths});
    assert!(valid(config(&["order.customer.name", "order.item.price"]), order));
    let missing = score(config(&["order.customer.age"]), order);
    assert_eq!(missing.score, Some(0.0));
    assert_eq!(missing.reason.as_deref(), Some("the element `order.customer.age` is missing"));
    assert!(!valid(config(&["customer"]), order));
    let error = scorebox_sdk::configure::<XmlValid>(config(&["a", "b..c"])).err().unwrap();
    assert_eq!(
        error.to_string(),
        "`requiredElements[1]`: should be names joined by `.`, found \"b..c\""
    );
}

#[test]
fn an_element_inside_a_text_will_do_where_asked() {
    let text = "Here you are:\n```xml\n<a><b>1</b></a>\n```\nDone, 1 < 2.";
    assert!(!valid(json!({}), text));
    assert!(valid(json!({"at": "anywhere"}), text));
    assert!(valid(json!({"at": "anywhere", "requiredElements": ["a.b"]}), text));
    // An element inside a well-formed one is not a root.
    assert!(!valid(json!({"at": "anywhere", "requiredElements": ["b"]}), text));
    // Inside a malformed one it is.
    assert!(valid(json!({"at": "anywhere"}), "<a>&bad;<b/></a>"));
    let none = score(json!({"at": "anywhere"}), "1 < 2 and 3 > 2");
    assert_eq!(none.reason.as_deref(), Some("no XML element found"));
}

#[test]
fn the_reason_says_what_is_wrong() {
    let reason = |output| score(json!({}), output).reason.unwrap();
    assert_eq!(reason("<a/>"), "well-formed XML, with the root `a`");
    assert_eq!(reason("<a>\n</b>"), "not well-formed XML: expected 'a' tag, not 'b' at 2:1");
}

#[test]
fn negate_turns_the_score_around() {
    assert!(valid(json!({"negate": true}), "text"));
    assert!(!valid(json!({"negate": true}), "<a/>"));
}

#[test]
fn of_a_long_name_the_meta_has_the_beginning() {
    let name = "a".repeat(1_000_000);
    let score = score(json!({}), &format!("<{name}/>"));
    assert_eq!(score.meta_value(), Some(json!({"root": format!("{}…", "a".repeat(80))})));
}

#[test]
fn what_would_cost_the_square_of_its_length_is_not_looked_at() {
    let refusal = |config: Value, output: &str| {
        let scorer: XmlValid = scorebox_sdk::configure(config).unwrap();
        scorer.score(&Case::new(json!(output))).unwrap_err().message().to_owned()
    };
    let attributes = |count: usize| -> String { (0..count).map(|n| format!(" a{n}=''")).collect() };
    assert!(valid(json!({}), &format!("<a{}/>", attributes(256))));
    let many = attributes(60_000);
    let message = "`output` has an element with more than 256 attributes, so it is not parsed";
    assert_eq!(refusal(json!({}), &format!("<a{many}/>")), message);
    assert_eq!(refusal(json!({"at": "anywhere"}), &format!("so: <a{many}/>")), message);
    // What looks like a comment may not be one.
    let entity = "<!DOCTYPE a [<!ENTITY e '<!--'>]>";
    assert_eq!(refusal(json!({}), &format!("{entity}<a{many}/><!-- -->")), message);
    // Attributes of different elements are not added up; nor is text counted.
    assert!(valid(json!({}), &format!("<a>{}</a>", "<b c='1' d='2'/> e='3' ".repeat(1000))));

    let nested = |count: usize| -> String {
        let open: String = (0..count).map(|n| format!("<a xmlns:p{n}='urn:{n}'>")).collect();
        open + &"</a>".repeat(count)
    };
    assert!(valid(json!({}), &nested(64)));
    assert_eq!(
        refusal(json!({}), &nested(20_000)),
        "`output` declares more than 64 namespace prefixes, so it is not parsed"
    );
    // A prefix that is declared many times counts once.
    assert!(valid(json!({}), &format!("<a>{}</a>", "<p:b xmlns:p='urn:p'/>".repeat(1000))));
}

#[test]
fn hostile_documents_cost_a_bounded_amount() {
    let deep = format!("{}{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
    assert!(valid(json!({}), &deep));
    // An entity that expands ten times ten times ten …
    let mut laughs = "<!DOCTYPE a [<!ENTITY e0 'ha'>".to_owned();
    for n in 1..20 {
        laughs.push_str(&format!("<!ENTITY e{n} '{}'>", format!("&e{};", n - 1).repeat(10)));
    }
    assert!(!valid(json!({}), &format!("{laughs}]><a>&e19;</a>")));
    let unended = "<!--".repeat(100_000);
    assert!(valid(json!({}), &format!("<!DOCTYPE a [<!ENTITY e '{unended}'>]><a/>")));
    let malformed = format!("{}&x;{}", "<a>".repeat(50_000), "</a>".repeat(50_000));
    let scorer: XmlValid = scorebox_sdk::configure(json!({"at": "anywhere"})).unwrap();
    let error = scorer.score(&Case::new(json!(malformed))).unwrap_err();
    assert!(error.message().contains("too many malformed elements"), "{error}");
}
