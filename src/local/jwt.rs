//! Bearer tokens as a JWT authorizer verifies them: signature, times, issuer, audience, client.
//!
//! Claims and algorithms are the business of `jsonwebtoken`; signatures that of ring, which is
//! here for TLS anyway. The issuer's keys are given, not fetched: there is no discovery document.

use jsonwebtoken::crypto::{CryptoProvider, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result as JwtResult};
use jsonwebtoken::signature::{Error as SignatureError, Verifier as SignatureVerifier};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
use ring::signature::{self, UnparsedPublicKey, VerificationAlgorithm};
use serde::Deserialize;

/// The token issuer that a JWT runtime trusts, as its authorizer is configured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JwtAuthorizer {
    /// The issuer's public key in PEM: RSA, or EC on P-256 or P-384.
    pub public_key: String,
    /// The `iss` that a token must have.
    pub issuer: Option<String>,
    /// One of these must be in a token's `aud`; empty: any.
    pub allowed_audience: Vec<String>,
    /// One of these must be a token's `client_id`; empty: any.
    pub allowed_clients: Vec<String>,
}

/// An authorizer, ready to verify.
pub(super) struct Verifier {
    key: DecodingKey,
    validation: Validation,
    allowed_clients: Vec<String>,
}

#[derive(Deserialize)]
struct Claims {
    client_id: Option<String>,
}

impl Verifier {
    pub(super) fn new(authorizer: &JwtAuthorizer) -> Result<Self, String> {
        // The first one of a process stays; all are the same.
        let _ = PROVIDER.install_default();
        let pem = authorizer.public_key.as_bytes();
        let (key, algorithms) = if let Ok(key) = DecodingKey::from_rsa_pem(pem) {
            (key, RSA.to_vec())
        } else if let Ok(key) = DecodingKey::from_ec_pem(pem) {
            (key, EC.to_vec())
        } else {
            return Err(
                "jwtAuthorizer: publicKey is no public key in PEM, RSA or EC (P-256, P-384)"
                    .to_owned(),
            );
        };
        let mut validation = Validation {
            algorithms,
            validate_nbf: true,
            ..Validation::default()
        };
        if let Some(issuer) = &authorizer.issuer {
            validation.set_issuer(&[issuer]);
            validation.required_spec_claims.insert("iss".to_owned());
        }
        validation.validate_aud = !authorizer.allowed_audience.is_empty();
        if validation.validate_aud {
            validation.set_audience(&authorizer.allowed_audience);
            validation.required_spec_claims.insert("aud".to_owned());
        }
        Ok(Self {
            key,
            validation,
            allowed_clients: authorizer.allowed_clients.clone(),
        })
    }

    /// Lets `token` pass, or says why not.
    pub(super) fn verify(&self, token: &[u8]) -> Result<(), String> {
        let claims = decode::<Claims>(token, &self.key, &self.validation)
            .map_err(|error| refusal(error.kind()).to_owned())?
            .claims;
        let client = claims.client_id.unwrap_or_default();
        if self.allowed_clients.is_empty() || self.allowed_clients.contains(&client) {
            Ok(())
        } else {
            Err("Claim 'client_id' value mismatch with configuration".to_owned())
        }
    }
}

fn refusal(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::ExpiredSignature => "Token has expired",
        ErrorKind::ImmatureSignature => "Token is not valid yet",
        ErrorKind::InvalidIssuer => "Claim 'iss' value mismatch with configuration",
        ErrorKind::InvalidAudience => "Claim 'aud' value mismatch with configuration",
        ErrorKind::InvalidSignature => "Token signature verification failed",
        _ => "Invalid bearer token",
    }
}

const RSA: [Algorithm; 3] = [Algorithm::RS256, Algorithm::RS384, Algorithm::RS512];
const EC: [Algorithm; 2] = [Algorithm::ES256, Algorithm::ES384];

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| Err(ErrorKind::InvalidAlgorithm.into()),
    verifier_factory: ring_verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is the library's"
)]
fn ring_verifier(algorithm: &Algorithm, key: &DecodingKey) -> JwtResult<Box<dyn JwtVerifier>> {
    let by: &'static dyn VerificationAlgorithm = match algorithm {
        Algorithm::RS256 => &signature::RSA_PKCS1_2048_8192_SHA256,
        Algorithm::RS384 => &signature::RSA_PKCS1_2048_8192_SHA384,
        Algorithm::RS512 => &signature::RSA_PKCS1_2048_8192_SHA512,
        Algorithm::ES256 => &signature::ECDSA_P256_SHA256_FIXED,
        Algorithm::ES384 => &signature::ECDSA_P384_SHA384_FIXED,
        _ => return Err(ErrorKind::InvalidAlgorithm.into()),
    };
    Ok(Box::new(RingVerifier {
        algorithm: *algorithm,
        key: UnparsedPublicKey::new(by, key.try_get_as_bytes()?.to_vec()),
    }))
}

struct RingVerifier {
    algorithm: Algorithm,
    key: UnparsedPublicKey<Vec<u8>>,
}

impl SignatureVerifier<Vec<u8>> for RingVerifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), SignatureError> {
        self.key
            .verify(message, signature)
            .map_err(|_| SignatureError::new())
    }
}

impl JwtVerifier for RingVerifier {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_none_is_refused_by_name() {
        let error = Verifier::new(&JwtAuthorizer {
            public_key: "secret".to_owned(),
            ..JwtAuthorizer::default()
        })
        .err()
        .unwrap();
        assert!(
            error.starts_with("jwtAuthorizer:") && !error.contains("secret"),
            "{error}"
        );
    }
}
