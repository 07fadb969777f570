import { z } from "zod";
import { organization } from "../../api/access.ts";
import { operationsOf } from "../../api/operation.ts";
import { id, money, moneyAnswer, responseRecord } from "../../api/record.ts";
import { presentCapacity, type CapacityService } from "./capacity-service.ts";

const WalletTokenCapacity = responseRecord("WalletTokenCapacity", {
  tokenSymbol: z.string(),
  price: moneyAnswer().nullable().meta({
    description: "In tokens: the price that was asked about, else the fullest one; null: none.",
  }),
  used: z.int().meta({ description: "Invoices near this price that the address holds apart." }),
  free: z.int().nullable().meta({
    description: "How many more of this price it can hold apart; null where there is no price.",
  }),
  usedPercent: z.int(),
});

const WalletAddressCapacity = responseRecord("WalletAddressCapacity", {
  nextIndex: z.int(),
  highestPaidIndex: z.int().nullable(),
  unpaidInARow: z.int().meta({ description: "Addresses since the last that was paid." }),
  gapLimit: z.int().meta({ description: "How many ordinary wallets look through." }),
  gapWarning: z.boolean(),
});

export const WalletCapacityRecord = responseRecord("WalletCapacity", {
  walletId: id("wallet"),
  network: z.string(),
  kind: z.enum(["address", "xpub"]),
  tokens: z.array(WalletTokenCapacity).meta({ description: "Of an address, by token." }),
  addresses: WalletAddressCapacity.nullable().meta({ description: "Of an extended key." }),
});

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
