import { expect } from "chai";
import { sendProblems } from "../../../src/http/middleware.ts";
import type { Exchange } from "../../../src/http/pipeline/exchange.ts";
import { createLogger } from "../../../src/platform/logger/index.ts";
import { startApp } from "../../support/app.ts";
import { anyStore } from "../../support/store/stores.ts";

anyStore("the log of requests", (store) => {
  it("has one line for each request at the level info, with its route and without its ids", async () => {
    const lines: Record<string, unknown>[] = [];
    const write = (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>);
    const app = await startApp({
      place: await store.place("migrated"),
      settings: { TILL_LOG_REQUESTS: "1" },
      outside: { logger: createLogger({ level: "info", destination: { write } }) },
      background: false,
    });
    await app.request("GET", "/v1/checkout/chk_00000000000000000000000000");
    await app.stop();
    const requests = lines.filter(({ msg }) => msg === "request");
    expect(requests).to.have.length(1);
    expect(requests[0]).to.deep.include({
      level: "info",
      method: "GET",
      status: 404,
      route: "/v1/checkout/:checkoutId",
    });
    expect(JSON.stringify(lines)).not.to.include("chk_0000");
  });

  it("says to restart the server if a part of the program is gone", async () => {
    const lines: Record<string, unknown>[] = [];
    const write = (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>);
    const answer = sendProblems({
      logger: createLogger({ level: "error", destination: { write } }),
      baseUrl: () => "https://till.example",
      problemPage: () => null,
    });
    const ctx = { state: { requestId: "req_1" }, get: () => "", status: 200 };
    const gone = Object.assign(new Error("Cannot find module"), { code: "ERR_MODULE_NOT_FOUND" });
    for (const error of [gone, new Error("other")]) {
      await answer(ctx as unknown as Exchange, () => Promise.reject(error));
      expect(ctx.status).to.equal(500);
    }
    expect(lines.map(({ msg }) => String(msg).includes("restart the server"))).to.deep.equal([
      true,
      false,
    ]);
  });
});
