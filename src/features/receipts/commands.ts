import { command, section } from "../../http/declare/command.ts";
import { listReceiptKeys, rotateReceiptKey } from "./keys.ts";
import type { KeySet } from "./signed-text.ts";

/** Returns the id of the key that signs now. */
function currentId({ keys }: KeySet): string | null {
  return keys[0]?.kid ?? null;
}

function keySection({ keys }: KeySet) {
  return [
    section({
      title: "Keys",
      items: keys,
      columns: [
        ["kid", "Id"],
        ["x", "Public key"],
      ],
    }),
  ];
}

export const receiptCommands = [
  command({
    name: "receipt show",
    summary: "Sign the receipt of a paid invoice",
    arguments: [{ name: "checkout", description: "the checkout id: chk_…" }],
    examples: ["till receipt show chk_01h…", "till receipt show chk_01h… --quiet > receipt.txt"],
    effect: "read",
    // Lazily, because the keys need no checkout.
    handle: async (app, call) =>
      (await import("./receipts.ts")).signReceipt(app, call.argument("checkout")),
    present: (signed) => Promise.resolve(signed),
    columns: [
      { title: "Reference", value: ({ claims }) => claims.reference },
      { title: "Merchant", value: ({ claims }) => claims.merchantDisplayName },
      { title: "Paid", value: ({ claims }) => `${claims.paidAmount} ${claims.settlementCurrency}` },
      { title: "Paid at", value: ({ claims }) => claims.paidAt },
      ["jws", "Signed text"],
    ],
    identify: ({ jws }) => jws,
  }),
  command({
    name: "receipt keys",
    summary: "List the public keys that verify receipts and payment requests",
    examples: ["till receipt keys", "till receipt keys --json > keys.json"],
    effect: "read",
    handle: listReceiptKeys,
    present: (keySet) => Promise.resolve(keySet),
    columns: [{ title: "Signs now", value: currentId }],
    sections: keySection,
    identify: (keySet) => currentId(keySet) ?? "",
  }),
  command({
    name: "receipt rotate-key",
    summary: "Replace the key that signs receipts; earlier receipts stay valid",
    examples: ["till receipt rotate-key", "till receipt rotate-key --yes --json"],
    effect: "write",
    async look(app) {
      const { keys } = await listReceiptKeys(app);
      return {
        subject: `the signing key ${keys[0]?.kid ?? ""}`,
        // The new key is made at random, and again after the question.
        changes: () => [["Public keys", keys.length, keys.length + 1]],
      };
    },
    confirm: (_call, subject) =>
      `Replace ${subject}? Programs that keep a copy of the public keys need the new one.`,
    handle: (app, call) => rotateReceiptKey(app, call.context),
    present: (keySet) => Promise.resolve(keySet),
    columns: [{ title: "Signs now", value: currentId }],
    sections: keySection,
    identify: (keySet) => currentId(keySet) ?? "",
  }),
];
