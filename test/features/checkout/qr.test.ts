import { expect } from "chai";
import encodeQR from "qr";
import { drawCode } from "../../../src/features/checkout/page/qr.ts";

describe("the code of a payment", () => {
  it("has more error correction up to 64 characters, and larger modules above", () => {
    for (const [length, ecc] of [
      [34, "medium"],
      [64, "medium"],
      [65, "low"],
    ] as const) {
      const text = "a".repeat(length);
      const size = encodeQR(text, "raw", { ecc, border: 4 }).length;
      expect(drawCode(text), String(length)).to.contain(`viewBox="0 0 ${String(size)} `);
    }
  });
});
