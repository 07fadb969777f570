import type { OwnFlag } from "../../http/declare/command.ts";

/**
 * Reads payment options as people write them: `tron/USDT ethereum/USDC/wal_…`. Missing parts stay empty, and their
 * fields refuse them.
 */
export function readOptionList(text: string) {
  return text
    .split(/[\s,]+/)
    .filter((each) => each !== "")
    .map((each) => {
      const [network = "", tokenSymbol = "", ...wallet] = each.split("/");
      return wallet.length === 0
        ? { network, tokenSymbol }
        : { network, tokenSymbol, walletId: wallet.join("/") };
    });
}

/** The flag of commands whose invoices offer several options. */
export const paymentOptionsFlag: OwnFlag = {
  placeholder: "options",
  description:
    "tokens and networks among which the payer chooses, instead of one: 'tron/USDT ethereum/USDC'",
  read: readOptionList,
};
