//! CHAP against values computed elsewhere, and against targets that cheat.

use super::*;

const SECRET: &str = "open sesame, now!";

fn hexadecimal(bytes: &[u8]) -> String {
    binary::encode(bytes).trim_start_matches("0x").to_owned()
}

/// Computed with Python: `hashlib.new(NAME, bytes([0x27]) + b"open sesame, now!" +
/// bytes(range(16))).hexdigest()`.
#[test]
fn responses_are_those_of_another_implementation() {
    let challenge: Vec<u8> = (0..16).collect();
    for (algorithm, response) in [
        (Algorithm::Md5, "acd324a4a4ee68ccdd534f5e414130ee"),
        (Algorithm::Sha1, "2c8f0701455cc5727f0fefba1506a41b4d17b61f"),
        (Algorithm::Sha256, "ccd962be23ca50791c5618348682f6d7f3f2cc3b3870bca118a03312c641ee3e"),
        (Algorithm::Sha3, "d8a2f218c660e68414bc714d7942b7f15b7c48cbb17b7f3b05e8b0b7be4e9ab6"),
    ] {
        let computed = algorithm.response(0x27, &Secret::new(SECRET), &challenge);
        assert_eq!(hexadecimal(&computed), response, "{algorithm:?}");
    }
}

fn credentials(mutual: Option<&str>) -> Credentials {
    Credentials {
        name: "us".into(),
        secret: Secret::new(SECRET),
        algorithms: Algorithm::ALL.to_vec(),
        mutual: mutual
            .map(|secret| Mutual { name: Some("them".into()), secret: Secret::new(secret) }),
    }
}

fn find<'a>(pairs: &[(&str, &'a str)], key: &str) -> Option<&'a str> {
    pairs.iter().find(|pair| pair.0 == key).map(|pair| pair.1)
}

fn asked(
    credentials: &Credentials,
    pairs: &[(&str, &str)],
    sent: &mut Sent,
) -> Result<(String, Option<Expectation>), ChapError> {
    let mut text = Vec::new();
    let (_, expectation) = answer(credentials, |key| find(pairs, key), sent, &mut || 7, &mut text)?;
    Ok((String::from_utf8(text).unwrap(), expectation))
}

#[test]
fn both_forms_of_a_challenge_are_answered_alike() {
    let ask = |challenge| {
        let pairs = [("CHAP_A", "5"), ("CHAP_I", "39"), ("CHAP_C", challenge)];
        asked(&credentials(None), &pairs, &mut Sent::default()).unwrap().0
    };
    let text = ask("0x000102030405060708090a0b0c0d0e0f");
    assert_eq!(text, "CHAP_N=us\0CHAP_R=0xacd324a4a4ee68ccdd534f5e414130ee\0");
    assert_eq!(ask("0bAAECAwQFBgcICQoLDA0ODw=="), text);
}

#[test]
fn a_target_is_believed_only_when_it_knows_its_secret() {
    let mut sent = Sent::default();
    let pairs = [("CHAP_A", "7"), ("CHAP_I", "1"), ("CHAP_C", "0x0102")];
    let (text, expectation) = asked(&credentials(Some("theirs")), &pairs, &mut sent).unwrap();
    let expectation = expectation.unwrap();
    let challenge = text.split('\0').find_map(|pair| pair.strip_prefix("CHAP_C=")).unwrap();
    let bytes = binary::decode(challenge, 64).unwrap();
    let right = Algorithm::Sha256.response(7, &Secret::new("theirs"), &bytes);
    let wrong = Algorithm::Sha256.response(7, &Secret::new("guess"), &bytes);
    let ours = Algorithm::Sha256.response(1, &Secret::new(SECRET), &[1, 2]);
    let judge = |response: &[u8], name| {
        let response = binary::encode(response);
        verify(&expectation, |key| find(&[("CHAP_R", &response), ("CHAP_N", name)], key))
    };
    assert_eq!(judge(&right, "them"), Ok(()));
    assert_eq!(judge(&wrong, "them"), Err(ChapError::NotProven));
    assert_eq!(judge(&right[..31], "them"), Err(ChapError::NotProven));
    assert_eq!(judge(&ours, "them"), Err(ChapError::Reflected));
    assert!(matches!(judge(&right, "others"), Err(ChapError::Name { .. })));
    assert_eq!(verify(&expectation, |_| None), Err(ChapError::Missing { key: "CHAP_R" }));

    // The challenge just sent is returned on the next connection.
    let pairs = [("CHAP_A", "7"), ("CHAP_I", "7"), ("CHAP_C", challenge)];
    assert_eq!(
        asked(&credentials(Some("theirs")), &pairs, &mut sent).unwrap_err(),
        ChapError::Reflected
    );
}

#[test]
fn what_was_not_offered_or_is_no_value_is_refused() {
    let ask = |pairs: &[(&str, &str)]| {
        asked(&credentials(None), pairs, &mut Sent::default()).unwrap_err()
    };
    assert_eq!(ask(&[]), ChapError::Missing { key: "CHAP_A" });
    assert!(matches!(ask(&[("CHAP_A", "9")]), ChapError::Algorithm { .. }));
    assert_eq!(ask(&[("CHAP_A", "5")]), ChapError::Missing { key: "CHAP_I" });
    let with = |identifier, challenge| {
        ask(&[("CHAP_A", "5"), ("CHAP_I", identifier), ("CHAP_C", challenge)])
    };
    assert_eq!(with("256", "0x01"), ChapError::BadValue { key: "CHAP_I" });
    assert_eq!(with("1", "secret"), ChapError::BadValue { key: "CHAP_C" });
    let long = format!("0x{}", "00".repeat(MAX_BINARY_BYTES + 1));
    assert_eq!(with("1", &long), ChapError::BadValue { key: "CHAP_C" });
    let pairs = [("CHAP_A", "5"), ("CHAP_I", "1"), ("CHAP_C", "0x01")];
    assert_eq!(
        asked(&credentials(Some(SECRET)), &pairs, &mut Sent::default()).unwrap_err(),
        ChapError::SameSecret
    );
}
