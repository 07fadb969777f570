// Exchange rates on the command line.
import { expect } from "chai";
import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { makeDesk } from "../billing-operator.ts";

describe("till rates", () => {
  const desk = makeDesk({ TILL_NETWORKS: "sandbox" });
  let server: Server;
  let requests = 0;
  let price = '{"price":"1.0834"}';

  before(async () => {
    server = createServer((_request, response) => {
      requests += 1;
      response.end(price);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  async function storeWithRates(pairs: string) {
    const store = await desk.store();
    const file = join(store.folder, "..", "rates.yaml");
    await writeFile(file, `pairs:\n${pairs}`);
    const env = { TILL_RATES_FILE: file };
    return {
      store,
      till: (...words: string[]) => store.till(words, { env }),
      silently: (...words: string[]) => store.till(words, { env: { ...env, TILL_RATES: "off" } }),
      json: (...words: string[]) =>
        store.json(words, { env }) as Promise<{ data: Record<string, unknown>[] }>,
    };
  }
  const asked = () => {
    const { port } = server.address() as AddressInfo;
    return `  EUR/USD: { sources: [{ name: mint, url: "http://127.0.0.1:${String(port)}", value: /price }] }\n`;
  };

  it("lists rates, queries the sources, and fails if a source does", async () => {
    const { till, silently, json } = await storeWithRates(
      `${asked()}  AED/USD: { fixed: "0.272294" }\n`,
    );
    const [unknown, fixed] = (await json("rates", "list")).data;
    expect(unknown).to.deep.include({ pair: "EUR/USD", status: "missing", quote: null });
    expect(fixed).to.deep.include({ pair: "AED/USD", status: "fixed", problem: null });
    const [had] = (await json("rates", "refresh")).data;
    expect(had).to.deep.include({ pair: "EUR/USD", status: "fresh", problem: null });
    expect(had?.["quote"]).to.include({ rate: "1.0834", source: "mint", sources: 1 });
    expect(had).to.include({ sources: 1 });
    expect(Date.parse(String(had?.["nextAt"]))).to.be.greaterThan(
      Date.parse(String(had?.["checkedAt"])),
    );
    expect((await till("rates", "list")).stdout).to.match(
      /EUR\/USD +1\.0834 +fresh +mint +1 of 1 /,
    );
    expect((await till("rates", "list", "-q")).stdout).to.equal("EUR/USD\nAED/USD\n");

    price = "<html>";
    const failed = await till("rates", "refresh");
    expect(failed.code).to.equal(75);
    expect(failed.stderr).to.include("EUR/USD: mint: its answer is HTML");
    expect(failed.stdout).to.match(/EUR\/USD +1\.0834 +fresh/);

    // Nobody is asked where the sources are off; fixed rates stay.
    const before = requests;
    for (const verb of ["list", "refresh"]) {
      const silent = await silently("rates", verb, "-q");
      expect(silent, silent.stderr).to.include({ code: 0, stdout: "AED/USD\n" });
    }
    expect(requests).to.equal(before);
  });

  it("accepts a pending rate, and reports if none is pending", async () => {
    const { store, till, json } = await storeWithRates(asked());
    price = '{"price":1.0834}';
    await json("rates", "refresh");
    price = '{"price":9.5}';
    const jumped = await till("rates", "refresh", "--json");
    expect(jumped.code).to.equal(75);
    expect(jumped.stderr).to.include("is pending confirmation");
    expect((await till("rates", "accept", "EUR/USD")).code).to.equal(2);
    const accepted = await till("rates", "accept", "EUR/USD", "--yes", "--json");
    expect(accepted.code, accepted.stderr).to.equal(0);
    const [entry] = await store.audited("rate.accepted");
    expect(entry).to.include({ target_id: "EUR/USD" });
    expect(JSON.parse(String(entry?.["changes"]))).to.deep.equal({
      rate: { from: "1.0834", to: "9.5" },
    });
    expect((await till("rates", "accept", "EUR/USD", "--yes")).stderr).to.include(
      "The pair has no pending rate",
    );
    expect((await till("rates", "accept", "EUR/GBP", "--yes")).code).to.equal(5);
  });

  it("validates its settings with all others", async () => {
    const { till } = await storeWithRates("  EUR/USD: { fixed: 1.08 }\n");
    const { code, stderr } = await till("config", "check");
    expect(code).to.equal(78);
    expect(stderr).to.include("pairs.EUR/USD.fixed in").and.to.include("write it in quotes");
  });
});
