import { expect } from "chai";
import { parseUrl } from "../../src/kernel/url.ts";

describe("a URL", () => {
  it("is read as its parts", () => {
    expect(parseUrl("https://example.com/a?b=c")?.host).to.equal("example.com");
  });

  it("is null where it is none", () => {
    for (const text of ["", "example.com", "https://", "https://a b/"]) {
      expect(parseUrl(text), text).to.equal(null);
    }
  });

  it("may have letters of Latin-1, however often it is asked", () => {
    for (let time = 0; time < 50_000; time += 1) {
      if (parseUrl("https://bücher.example/")?.host !== "xn--bcher-kva.example") {
        throw new Error(`refused at the ${String(time)}th time`);
      }
    }
  });
});
