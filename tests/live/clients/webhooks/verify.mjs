// Verifies one message of stdin, {secret, body, headers}, with the library of Standard Webhooks; prints its payload.
import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";

const { secret, body, headers } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(new Webhook(secret).verify(body, headers)));
