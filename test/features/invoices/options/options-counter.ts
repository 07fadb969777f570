import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testContext, type TestStore } from "../../../support/store/stores.ts";
import { openCounter, type Counter } from "../../payments/ledger/counter.ts";
import { refreshRates } from "../../../../src/features/rates/rates.ts";

/** Tokens of the sandbox beside USDT and USDC. EURT has a rate that the test sets, and NONE has none. */
const tokens = {
  EURT: { decimals: 6, pegs: "[EUR]", dust: "0.01" },
  WBTC: { decimals: 8, pegs: "[]", dust: "0.00000001" },
  GOLD: { decimals: 18, pegs: "[]", dust: "0.00001" },
  CENT: { decimals: 2, pegs: "[USD]", dust: "0.01" },
  DAI: { decimals: 18, pegs: "[USD]", dust: "0.01" },
  GUSD: { decimals: 2, pegs: "[USD]", dust: "0.01" },
  NONE: { decimals: 6, pegs: "[GBP]", dust: "0.01" },
} as const;

export interface OptionsCounter extends Counter {
  /** Sets the price of a euro in dollars. */
  setEuro(price: string): Promise<void>;
}

/** Opens a counter whose sandbox has nine tokens, at different rates. */
export async function openOptionsCounter(store: TestStore): Promise<OptionsCounter> {
  const folder = await mkdtemp(join(tmpdir(), "till options "));
  let euro = "1.25";
  const source = createServer((_request, response) => {
    response.setHeader("Content-Type", "application/json").end(`{"price":${euro}}`);
  });
  await new Promise<void>((resolve) => source.listen(0, "127.0.0.1", resolve));
  // A failed start must not keep the suite alive.
  source.unref();
  const url = `http://127.0.0.1:${String((source.address() as AddressInfo).port)}`;
  const table = await readFile(
    new URL("../../../../config/networks.yaml", import.meta.url),
    "utf8",
  );
  const more = Object.entries(tokens).map(
    ([symbol, { decimals, pegs, dust }], place) => `      ${symbol}:
        title: ${symbol} (test)
        contract: "0x${String(place + 1).repeat(40)}"
        decimals: ${String(decimals)}
        pegs: ${pegs}
        dust: "${dust}"
`,
  );
  await writeFile(join(folder, "networks.yaml"), table.trimEnd() + "\n" + more.join(""));
  await writeFile(
    join(folder, "rates.yaml"),
    `refreshSeconds: 60
maxAgeSeconds: 900
maxJumpPercent: "99"
pairs:
  EUR/USD:
    sources:
      - { name: one, url: "${url}", value: /price }
  WBTC/USD: { fixed: "100000.01" }
  GOLD/USD: { fixed: "3" }
`,
  );
  const counter = await openCounter(store, {
    TILL_RATES: "on",
    TILL_NETWORKS_FILE: join(folder, "networks.yaml"),
    TILL_RATES_FILE: join(folder, "rates.yaml"),
  });
  const setEuro = async (price: string) => {
    euro = price;
    await refreshRates(counter.app.app, testContext);
    counter.app.clock.advance(1_000);
  };
  await setEuro(euro);
  return {
    ...counter,
    setEuro,
    async stop() {
      await counter.stop();
      source.closeAllConnections();
      source.close();
      await rm(folder, { recursive: true });
    },
  };
}
