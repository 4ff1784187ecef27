//! What binds the proof of a password to a server's certificate: `tls-server-end-point` of
//! RFC 5929, the certificate under the hash that its own signature uses.
//!
//! Of the certificate only the name of the signature is read, and nothing is decided by it: where
//! it is not known, nothing is bound, and a server that insists on it refuses.

use sha2::{Digest as _, Sha256, Sha384, Sha512};

const SEQUENCE: u8 = 0x30;
const OBJECT_IDENTIFIER: u8 = 0x06;

/// 1.2.840.113549.1.1 and 1.2.840.10045.4, which RSA's and ECDSA's names begin with.
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1];
const ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 4];

pub(super) fn end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    let name = signature_name(certificate)?;
    let rsa = name.strip_prefix(RSA).map(Signed::Rsa);
    let ecdsa = name.strip_prefix(ECDSA).map(Signed::Ecdsa);
    Some(match rsa.or(ecdsa)? {
        // MD5 and SHA-1 give way to SHA-256.
        Signed::Rsa([4 | 5 | 11]) | Signed::Ecdsa([1] | [3, 2]) => {
            Sha256::digest(certificate).to_vec()
        }
        Signed::Rsa([12]) | Signed::Ecdsa([3, 3]) => Sha384::digest(certificate).to_vec(),
        Signed::Rsa([13]) | Signed::Ecdsa([3, 4]) => Sha512::digest(certificate).to_vec(),
        _ => return None,
    })
}

/// The rest of a signature's name.
enum Signed<'a> {
    Rsa(&'a [u8]),
    Ecdsa(&'a [u8]),
}

/// `Certificate ::= SEQUENCE { what is signed, SEQUENCE { name of the signature, … }, … }`
fn signature_name(certificate: &[u8]) -> Option<&[u8]> {
    let (fields, _) = element(certificate, SEQUENCE)?;
    let (_, fields) = element(fields, SEQUENCE)?;
    let (algorithm, _) = element(fields, SEQUENCE)?;
    Some(element(algorithm, OBJECT_IDENTIFIER)?.0)
}

/// The contents of the first element, which must be of this kind, and what follows it.
fn element(bytes: &[u8], kind: u8) -> Option<(&[u8], &[u8])> {
    let (&[found, first], rest) = bytes.split_first_chunk()?;
    if found != kind {
        return None;
    }
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        // The long form: that many bytes hold the length.
        0x81..=0x83 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate(algorithm: &'static rcgen::SignatureAlgorithm) -> Vec<u8> {
        let key = rcgen::KeyPair::generate_for(algorithm).unwrap();
        let params = rcgen::CertificateParams::new(vec!["db.test".to_owned()]).unwrap();
        params.self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn the_hash_is_that_of_the_signature() {
        let short = certificate(&rcgen::PKCS_ECDSA_P256_SHA256);
        assert_eq!(end_point(&short).unwrap(), Sha256::digest(&short).to_vec());
        let long = certificate(&rcgen::PKCS_ECDSA_P384_SHA384);
        assert_eq!(end_point(&long).unwrap(), Sha384::digest(&long).to_vec());
        assert_eq!(end_point(&certificate(&rcgen::PKCS_ED25519)), None);
    }

    #[test]
    fn every_signature_with_a_hash_has_its_own() {
        for (prefix, rest, bytes) in [
            (RSA, [4].as_slice(), Some(32)),
            (RSA, &[5], Some(32)),
            (RSA, &[11], Some(32)),
            (RSA, &[12], Some(48)),
            (RSA, &[13], Some(64)),
            (RSA, &[10], None),
            (ECDSA, &[1], Some(32)),
            (ECDSA, &[3, 2], Some(32)),
            (ECDSA, &[3, 3], Some(48)),
            (ECDSA, &[3, 4], Some(64)),
            (ECDSA, &[3, 1], None),
        ] {
            let wrapped = |kind: u8, contents: &[u8]| {
                [&[kind, u8::try_from(contents.len()).unwrap()], contents].concat()
            };
            let name = wrapped(OBJECT_IDENTIFIER, &[prefix, rest].concat());
            let fields = [wrapped(SEQUENCE, &[]), wrapped(SEQUENCE, &name)].concat();
            let digest = end_point(&wrapped(SEQUENCE, &fields));
            assert_eq!(digest.map(|digest| digest.len()), bytes, "{rest:?}");
        }
    }

    #[test]
    fn what_is_cut_off_binds_nothing() {
        let whole = certificate(&rcgen::PKCS_ECDSA_P256_SHA256);
        for length in 0..whole.len() {
            assert_eq!(end_point(&whole[..length]), None, "{length}");
        }
    }
}
