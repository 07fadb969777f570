import { anyCredential } from "../../api/declare/permissions.ts";
import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { operation } from "../../api/declare/operation.ts";
import { describeCredential } from "./me.ts";
import { MeRecord, presentMe } from "./records.ts";

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
    handle: (app, call) => describeCredential(app, call.actor),
    present: presentMe,
  }),
];

export const meModule: FeatureModule = {
  operations: meOperations,
};
