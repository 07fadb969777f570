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
