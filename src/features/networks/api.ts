import { authenticated } from "../../api/declare/permissions.ts";
import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { operation } from "../../api/declare/operation.ts";
import { listNetworks } from "./networks.ts";
import { NetworkListRecord, presentNetworks } from "./records.ts";

export const networkOperations = [
  operation({
    id: "listNetworks",
    group: "Networks",
    method: "GET",
    path: "/networks",
    summary: "List the networks and tokens that invoices can be paid in",
    description:
      "The enabled networks with their tokens. A token is omitted while it is disabled because its contract does not have the configured decimals.",
    access: authenticated("networks:read"),
    response: { status: 200, record: NetworkListRecord },
    errors: [],
    handle: (app) => listNetworks(app),
    present: presentNetworks,
  }),
];

export const networksModule: FeatureModule = {
  operations: networkOperations,
};
