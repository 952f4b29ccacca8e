//! What only the key of an admin may do, and the usage that an account reads of itself.

use utoipa::openapi::path::{HttpMethod, OperationBuilder};

use super::operation::{
    Described, answer, day, failing, id, json_body, no_body, one_of, operation, query, text, uuid, whole,
};
use crate::api::deliveries::{DeliveryList, DeliveryView};
use crate::api::erasures::ErasureList;
use crate::api::query::{MOST, USUAL};
use crate::api::usage::{Usage, UsageOfAll};
use crate::api::webhooks::{WebhookList, WebhookView};
use crate::model::event::DeliveryStatus;
use crate::validate;

const TAG: &str = "admin";

pub(super) fn operations() -> Vec<Described> {
    let mut all = usage();
    all.extend(webhooks());
    all.extend(deliveries());
    all.push(erasures());
    all
}

fn described(path: &str, method: HttpMethod, operation: OperationBuilder) -> Described {
    Described { path: path.to_owned(), method, operation: operation.build() }
}

fn usage() -> Vec<Described> {
    let own = between_days(operation("usage", "getUsage", "Tells what the account of the key was billed"))
        .response("200", answer::<Usage>("The account and its days."));
    let all = between_days(operation(TAG, "getUsageOfAll", "Tells what every account was billed"))
        .parameter(query("account", "This account only, with its days.", text()))
        .response("200", answer::<UsageOfAll>("The accounts."));
    vec![
        described("/v2/usage", HttpMethod::Get, failing(own, &[400, 401, 422, 429, 503])),
        described("/v2/admin/usage", HttpMethod::Get, failing(all, &[400, 401, 403, 422, 429, 503])),
    ]
}

fn between_days(operation: OperationBuilder) -> OperationBuilder {
    operation.parameter(query("from", "First day, UTC.", day())).parameter(query(
        "to",
        "Last day, UTC.",
        day(),
    ))
}

fn webhooks() -> Vec<Described> {
    const ALL: &str = "/v2/admin/webhooks";
    const ONE: &str = "/v2/admin/webhooks/{id}";
    let list = operation(TAG, "listWebhooks", "Lists the receivers of events")
        .parameter(query("account", "Those registered for this account alone.", text()))
        .response("200", answer::<WebhookList>("All of them."));
    let register = operation(TAG, "registerWebhook", "Registers a receiver of events")
        .request_body(json_body(validate::WEBHOOK))
        .response("200", answer::<WebhookView>("It hears of what happens from now on."));
    let get = operation(TAG, "getWebhook", "Reads a receiver")
        .parameter(id("Id of the webhook."))
        .response("200", answer::<WebhookView>("The receiver; its secret is not shown."));
    let remove = operation(TAG, "removeWebhook", "Removes a receiver; what it is still owed is given up")
        .parameter(id("Id of the webhook."))
        .response("204", no_body("It is gone."));
    vec![
        described(ALL, HttpMethod::Get, failing(list, &[401, 403, 429, 503])),
        described(ALL, HttpMethod::Post, failing(register, &[400, 401, 403, 408, 413, 415, 429, 503])),
        described(ONE, HttpMethod::Get, failing(get, &[401, 403, 404, 429, 503])),
        described(ONE, HttpMethod::Delete, failing(remove, &[401, 403, 404, 409, 429, 503])),
    ]
}

fn deliveries() -> Vec<Described> {
    let list = part(operation(TAG, "listDeliveries", "Lists messages to receivers, the newest first"))
        .parameter(query("job", "Messages about this job.", uuid()))
        .parameter(query("account", "Messages about jobs of this account.", text()))
        .parameter(query(
            "status",
            "Messages that stand so.",
            one_of(DeliveryStatus::ALL.map(DeliveryStatus::name)),
        ))
        .response("200", answer::<DeliveryList>("A part of the list."));
    let get = operation(TAG, "getDelivery", "Reads a message")
        .parameter(id("Id of the delivery."))
        .response("200", answer::<DeliveryView>("The message."));
    let replay = operation(TAG, "replayDelivery", "Sends a message once more, under the same id")
        .parameter(id("Id of the delivery."))
        .response("202", answer::<DeliveryView>("It is sent now."));
    vec![
        described("/v2/admin/deliveries", HttpMethod::Get, failing(list, &[400, 401, 403, 429, 503])),
        described("/v2/admin/deliveries/{id}", HttpMethod::Get, failing(get, &[401, 403, 404, 429, 503])),
        described(
            "/v2/admin/deliveries/{id}/replay",
            HttpMethod::Post,
            failing(replay, &[401, 403, 404, 409, 429, 503]),
        ),
    ]
}

fn erasures() -> Described {
    let list = part(operation(
        TAG,
        "listErasures",
        "Lists what was erased at the end of its time, the newest first",
    ))
    .parameter(query("account", "What was of this account.", text()))
    .response("200", answer::<ErasureList>("A part of the list."));
    described("/v2/admin/erasures", HttpMethod::Get, failing(list, &[400, 401, 403, 429, 503]))
}

fn part(operation: OperationBuilder) -> OperationBuilder {
    operation
        .parameter(query("offset", "Entries to leave out.", whole(0, Some(0)).maximum(Some(u32::MAX))))
        .parameter(query("limit", "Most entries.", whole(1, Some(USUAL)).maximum(Some(MOST))))
}
