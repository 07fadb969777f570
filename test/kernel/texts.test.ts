import { expect } from "chai";
import { canonicalJson } from "../../src/kernel/digest.ts";
import { cleanPasted, escapeHtml, isSeen } from "../../src/kernel/text.ts";
import { day, hour, minute, second, toIso, toIsoOrNull } from "../../src/kernel/clock.ts";

describe("a time", () => {
  it("is counted in milliseconds", () => {
    expect([second, minute, hour, day]).to.deep.equal([1_000, 60_000, 3_600_000, 86_400_000]);
  });

  it("is formatted as ISO 8601 with milliseconds and Z, and null stays null", () => {
    expect(toIso(0)).to.equal("1970-01-01T00:00:00.000Z");
    expect(toIsoOrNull(1)).to.equal("1970-01-01T00:00:00.001Z");
    expect(toIsoOrNull(null)).to.equal(null);
  });
});

describe("canonical JSON", () => {
  it("does not depend on the order of fields at any depth", () => {
    const written = '{"a":[{"x":null,"y":1},"b"],"b":{"c":2,"d":true}}';
    expect(canonicalJson({ b: { d: true, c: 2 }, a: [{ y: 1, x: null }, "b"] })).to.equal(written);
    expect(canonicalJson({ a: [{ x: null, y: 1 }, "b"], b: { c: 2, d: true } })).to.equal(written);
  });

  it("keeps the order of lists and leaves single values unchanged", () => {
    expect(canonicalJson({ b: undefined, 10: 1, 9: [undefined] })).to.equal('{"9":[null],"10":1}');
    expect(canonicalJson([3, 1, 2])).to.equal("[3,1,2]");
    expect(canonicalJson("text")).to.equal('"text"');
    expect(canonicalJson(null)).to.equal("null");
  });
});

describe("a text that somebody has written", () => {
  it("is seen if any of its characters is visible", () => {
    for (const text of ["a", " a ", "\u200ba", "0", "-", "\u05d0"])
      expect(isSeen(text)).to.equal(true);
    for (const text of ["", " ", "\n\t", "\u200b\u2060", "\u202e", "\u2800", "\u3164"]) {
      expect(isSeen(text)).to.equal(false);
    }
  });

  it("is pasted without invisible characters and space around it", () => {
    expect(cleanPasted(" \u200e0x12\u200b34\u2069\n")).to.equal("0x1234");
  });

  it("is shown in HTML as text, also within attributes", () => {
    expect(escapeHtml(`<a href="x" title='y'>&</a>`)).to.equal(
      "&#60;a href=&#34;x&#34; title=&#39;y&#39;&#62;&#38;&#60;/a&#62;",
    );
  });
});
