import { anyCredential } from "../../api/access.ts";
import { operationsOf } from "../../api/operation.ts";
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
    summary: "Get who the credential is and where it may act",
    description:
      "Answers any credential that is good, whatever its role or scopes: a user with their organizations and roles, or an API key with its scopes and its organization, each with the permissions that follow.",
    access: anyCredential,
    response: { status: 200, record: MeRecord },
    errors: [],
    handle: (service, call) => service.describe(call.actor),
    present: presentMe,
  }),
];
