import { expect } from "chai";
import { parseUrl } from "../../src/kernel/url.ts";

describe("a URL", () => {
  it("is parsed into its parts", () => {
    expect(parseUrl("https://example.com/a?b=c")?.host).to.equal("example.com");
  });

  it("is null if the text is not a URL", () => {
    for (const text of ["", "example.com", "https://", "https://a b/"]) {
      expect(parseUrl(text), text).to.equal(null);
    }
  });

  it("may contain Latin-1 letters, also after the parser was compiled by the JIT", () => {
    for (let time = 0; time < 50_000; time += 1) {
      if (parseUrl("https://bücher.example/")?.host !== "xn--bcher-kva.example") {
        throw new Error(`refused at the ${String(time)}th time`);
      }
    }
  });
});
