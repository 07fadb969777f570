import { z } from "zod";
import { id, moneyAnswer, responseRecord } from "../../api/record.ts";

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
