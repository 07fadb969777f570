import { expect } from "chai";
import { conceal } from "../../../src/cli/doctor/report.ts";

const concealed = (text: string, known = {}) => conceal({ text }, known).text;

describe("the names and addresses in a bug report", () => {
  it("are replaced, equal ones by equal words, also where a host stands without its URL", () => {
    expect(
      concealed("https://rpc.example/v1 failed; provider rpc.example, and wss://b.example:8443"),
    ).to.equal("https://host-1/v1 failed; provider host-1, and wss://host-2:8443");
    expect(concealed("ada@shop.example and ADA@shop.example")).to.equal("mail-1 and mail-1");
    expect(concealed("10.0.0.1, 2001:db8::1 and [2001:db8::2]:80")).to.equal(
      "ip-1, ip-2 and [ip-3]:80",
    );
    expect(concealed("TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC")).to.equal("address-1");
    expect(concealed(`0x${"ab".repeat(32)} of 0x${"cd".repeat(20)}`)).to.equal(
      "hash-1 of address-1",
    );
  });

  it("are found in the address of a database, whose user and port stay", () => {
    expect(concealed("postgres://till:***@db.internal:5432/till")).to.equal(
      "postgres://till:***@host-1:5432/till",
    );
  });

  it("are not seen in times, versions, ids and this machine's own addresses", () => {
    for (const text of [
      "2026-01-01T10:00:00.000Z 12:30:45 version 15.14 v20.20.2 1.2.3",
      "evt_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "http://127.0.0.1:8080, http://localhost:1, ::1 and 0.0.0.0",
      "postgres://u@127.0.0.1/x, till.yaml, docs/operating",
    ])
      expect(concealed(text)).to.equal(text);
  });

  it("are whole words, in any language and with quotes; very short names stay", () => {
    const known = { merchant: ['Ünal\'s "Shop"', "to"] };
    expect(concealed('ÜNAL\'S "SHOP" went to town', known)).to.equal("merchant-1 went to town");
    expect(concealed('Ünal\'s "Shop"s', known)).to.equal('Ünal\'s "Shop"s');
  });
});
