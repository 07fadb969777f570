import { authenticated } from "../../api/access.ts";
import { operationsOf } from "../../api/operation.ts";
import { presentNetworks } from "./present.ts";
import { NetworkListRecord } from "./records.ts";
import type { NetworkService } from "./service.ts";

const operation = operationsOf<NetworkService>();

export const networkOperations = [
  operation({
    id: "listNetworks",
    group: "Networks",
    method: "GET",
    path: "/networks",
    summary: "List the networks and tokens that invoices can be paid in",
    description:
      "The networks that this installation has enabled, each with its tokens. A token that the installation has switched off, because its contract does not have the configured decimals, is left out.",
    access: authenticated,
    response: { status: 200, record: NetworkListRecord },
    errors: [],
    handle: (service) => service.list(),
    present: presentNetworks,
  }),
];
