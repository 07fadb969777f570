import { organization } from "../../api/access.ts";
import { operationsOf } from "../../api/operation.ts";
import { money } from "../../api/record.ts";
import { WalletCapacityRecord } from "./capacity-records.ts";
import { presentCapacity, type CapacityService } from "./capacity-service.ts";

const operation = operationsOf<CapacityService>();

export const capacityOperations = [
  operation({
    id: "getWalletCapacity",
    group: "Wallets",
    method: "GET",
    path: "/organizations/{organizationId}/wallets/{walletId}/capacity",
    summary: "Get how many more invoices a wallet can tell apart",
    description:
      "An address tells invoices of one price apart by small surcharges, of which there are only so many. Without `amount` it is about the fullest price. An extended key has an address for each invoice.",
    access: organization("organization:read"),
    request: { query: { amount: money().optional() } },
    response: { status: 200, record: WalletCapacityRecord },
    errors: [],
    handle: (service, call) =>
      service.capacity(call.organizationId, call.params.walletId, call.query.amount),
    present: presentCapacity,
  }),
];
