import { expect } from "chai";
import { plausible } from "./plausible.ts";

const recorded = (shift: number, digit: string) => {
  const at = (ms: number) =>
    new Date(Date.parse("2031-05-06T07:08:09.123Z") + shift + ms).toISOString();
  const id = `inv_01${digit.repeat(24)}`;
  const checkoutId = `chk_${digit.repeat(32)}`;
  return {
    id,
    amount: "25.00",
    count: 3,
    missing: null,
    publicId: `ipub_${digit.repeat(32)}`,
    reference: `${digit.repeat(4)}-${digit.repeat(4)}`.toUpperCase(),
    checkoutUrl: `http://127.0.0.1:${String(40_000 + shift)}/pay/${checkoutId}`,
    refundOf: id,
    createdAt: at(0),
    updatedAt: at(shift % 900),
    expiresAt: at(3_600_000),
    transactionHash: `0x${digit.repeat(64)}`,
    walletAddress: `0x${digit.repeat(40)}`,
    secret: `till_live_${digit.repeat(49)}`,
    lines: [1, 2, 3],
  };
};

describe("plausible examples", () => {
  it("are the same for two recordings that differ in ids, times, secrets and ports", () => {
    expect(plausible(recorded(777, "a"))).to.deep.equal(plausible(recorded(1_000, "b")));
  });

  it("keep equal values equal, the order of times and the forms, and have at most two items", () => {
    const example = plausible(recorded(0, "a")) as ReturnType<typeof recorded>;
    expect(example.id)
      .to.match(/^inv_[0-9a-hjkmnp-tv-z]{26}$/)
      .and.not.include("aaaa");
    expect(example.refundOf).to.equal(example.id);
    expect(example.publicId.slice(5, 9).toUpperCase()).to.equal(example.reference.slice(0, 4));
    expect(example.checkoutUrl).to.match(/^https:\/\/till\.example\/pay\/chk_[0-9a-z]{32}$/);
    expect(example.createdAt).to.equal("2026-01-31T09:30:00.000Z");
    expect(example.expiresAt).to.equal("2026-01-31T10:30:00.000Z");
    expect(example).to.include({ amount: "25.00", count: 3, missing: null });
    expect(example.walletAddress).to.match(/^0x[0-9a-fA-F]{40}$/);
    expect(example.lines).to.deep.equal([1, 2]);
    expect(example.secret)
      .to.match(/^till_live_\w{49}$/)
      .and.not.include("aaaa");
  });
});
