//! Limits as each API tells of them.
//!
//! Owns the headers and bodies: a limit of an account's use, which ends at a time, and a server's limit
//! of bursts, which ends by itself. The names are those that the clients read; that real servers send
//! these values is not known.

use serde_json::json;

use super::{Api, Step};

/// The account's use is at its limit until then, in seconds since 1970.
pub fn usage_limit(api: Api, resets_at: i64) -> Step {
    match api {
        Api::Anthropic => {
            let body = json!({"type": "error", "error": {
                "type": "rate_limit_error",
                "message": "This request would exceed your account's rate limit. Please try again later.",
            }});
            windows(Step::status(429, body), "rejected", 1.0, resets_at)
                .with_header("retry-after", 3600)
        }
        Api::Responses => {
            let body = json!({"error": {
                "type": "usage_limit_reached",
                "message": "The usage limit has been reached",
                "plan_type": "plus",
                "resets_at": resets_at,
            }});
            used(api, Step::status(429, body), 1.0, resets_at)
        }
        Api::Chat => Step::status(
            429,
            json!({"error": {
                "type": "insufficient_quota",
                "code": "insufficient_quota",
                "message": "You exceeded your current quota, please check your plan and billing details.",
            }}),
        ),
        Api::Gemini => quota("GenerateRequestsPerDayPerProjectPerModel", "86400s"),
    }
}

/// The server has too much to do just now.
pub fn burst(api: Api) -> Step {
    match api {
        Api::Anthropic => Step::status(
            429,
            json!({"type": "error", "error": {
                "type": "rate_limit_error",
                "message": "Number of requests has exceeded your per-minute rate limit.",
            }}),
        ),
        Api::Responses | Api::Chat => Step::status(
            429,
            json!({"error": {
                "type": "rate_limit_exceeded",
                "code": "rate_limit_exceeded",
                "message": "Rate limit reached for requests per minute. Please try again in 1s.",
            }}),
        ),
        Api::Gemini => quota("GenerateRequestsPerMinutePerProjectPerModel", "1s"),
    }
}

/// The same answer, which also tells how much of the account's window is used, from 0 to 1. Only two of
/// the APIs can tell.
pub fn used(api: Api, step: Step, part: f64, resets_at: i64) -> Step {
    match api {
        Api::Anthropic => {
            let status = if part < 0.9 {
                "allowed"
            } else {
                "allowed_warning"
            };
            windows(step, status, part, resets_at)
        }
        Api::Responses => step
            .with_header("x-codex-primary-used-percent", part * 100.0)
            .with_header("x-codex-primary-window-minutes", 300)
            .with_header("x-codex-primary-reset-at", resets_at)
            .with_header("x-codex-secondary-used-percent", 10)
            .with_header("x-codex-secondary-window-minutes", 10080)
            .with_header("x-codex-secondary-reset-at", resets_at + 86_400),
        Api::Chat | Api::Gemini => step,
    }
}

fn windows(step: Step, status: &str, part: f64, resets_at: i64) -> Step {
    let step = step
        .with_header("anthropic-ratelimit-unified-status", status)
        .with_header("anthropic-ratelimit-unified-reset", resets_at)
        .with_header(
            "anthropic-ratelimit-unified-representative-claim",
            "five_hour",
        )
        .with_header("anthropic-ratelimit-unified-5h-utilization", part)
        .with_header("anthropic-ratelimit-unified-5h-reset", resets_at)
        .with_header("anthropic-ratelimit-unified-7d-utilization", 0.1)
        .with_header("anthropic-ratelimit-unified-7d-reset", resets_at + 86_400)
        .with_header("anthropic-ratelimit-unified-overage-status", "rejected");
    if status == "allowed_warning" {
        step.with_header("anthropic-ratelimit-unified-5h-surpassed-threshold", 0.9)
    } else {
        step
    }
}

fn quota(id: &str, again_in: &str) -> Step {
    Step::status(
        429,
        json!({"error": {
            "code": 429,
            "status": "RESOURCE_EXHAUSTED",
            "message": "You exceeded your current quota, please check your plan and billing details.",
            "details": [
                {
                    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                    "violations": [{
                        "quotaMetric": "generativelanguage.googleapis.com/generate_requests",
                        "quotaId": id,
                    }],
                },
                {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": again_in},
            ],
        }}),
    )
}
