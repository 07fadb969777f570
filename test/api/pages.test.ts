import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect } from "chai";
import { anyServed } from "../support/served.ts";
import { expectProblem } from "./problem.ts";

const path = "/pay/chk_0123456789abcdefghjkmnpqrstvwxyz/sandbox";
const form = { "Content-Type": "application/x-www-form-urlencoded" };

anyServed("the form of a page", (served) => {
  const post = (raw: string | undefined, headers: Record<string, string> = form) =>
    served.app.request("POST", path, {
      ...(raw === undefined ? {} : { raw }),
      headers: { Accept: "application/json", ...headers },
    });

  it("is parsed as a browser sends it, and the page of an unknown invoice is not found", async () => {
    for (const raw of [
      "action=pay",
      "action=pay&action=mine",
      "__proto__=1&constructor[prototype]=2&a[b][c]=1",
      "action=%E0%A4%A",
      "action=%00",
      "=&&==",
      Array.from({ length: 1_500 }, (_, n) => `a${String(n)}=1`).join("&"),
    ]) {
      expectProblem(await post(raw), 404, "not_found");
    }
    expect(({} as Record<string, unknown>)["a"]).to.equal(undefined);
  });

  it("is refused if it is malformed", async () => {
    const shown = await fetch(served.app.url + path, { method: "POST", body: "action=pay" });
    expect(shown.status).to.equal(415);
    expect(await shown.text()).to.contain("so nothing has changed");
    for (const type of ["application/json", "text/plain", "multipart/form-data; boundary=x", ""]) {
      const answer = await post("action=pay", { "Content-Type": type });
      expectProblem(answer, 415, "unsupported_media_type");
    }
    expectProblem(await post(undefined, {}), 415, "unsupported_media_type");
    const zipped = (encoding: string) =>
      post("action=pay", { ...form, "Content-Encoding": encoding });
    expectProblem(await zipped("zstd"), 415, "unsupported_media_type");
    expectProblem(await zipped("gzip"), 400, "invalid_request");
  });

  it("is refused if it exceeds the limit", async () => {
    expectProblem(await post(`action=${"x".repeat(17_000)}`), 413, "payload_too_large");
    const unpacked = Buffer.concat([Buffer.from("action="), Buffer.alloc(1_024 ** 2, 120)]);
    for (const [encoding, packed] of [
      ["gzip", gzipSync(unpacked)],
      ["deflate", deflateSync(unpacked)],
      ["br", brotliCompressSync(unpacked)],
    ] as const) {
      expect(packed.byteLength, encoding).to.be.lessThan(16 * 1_024);
      const answer = await served.app.request("POST", path, {
        raw: packed,
        headers: { Accept: "application/json", ...form, "Content-Encoding": encoding },
      });
      expectProblem(answer, 413, "payload_too_large");
    }
    expect((await served.app.request("GET", "/healthz")).status).to.equal(200);
  });
});
