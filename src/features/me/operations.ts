import { anyCredential } from "../../api/declare/access.ts";
import { operationsOf } from "../../api/declare/operation.ts";
import { presentMe } from "./present.ts";
import { MeRecord } from "./records.ts";
import type { MeService } from "./service.ts";

const operation = operationsOf<MeService>();

export const meOperations = [
  operation({
    id: "getMe",
    group: "Auth",
    method: "GET",
    path: "/me",
    summary: "Get the credential's identity and permissions",
    description:
      "Works with any valid credential, whatever its role or scopes. A user gets their organizations and roles; an API key gets its scopes and its organization; both with the resulting permissions.",
    access: anyCredential,
    response: { status: 200, record: MeRecord },
    errors: [],
    handle: (service, call) => service.describe(call.actor),
    present: presentMe,
  }),
];
