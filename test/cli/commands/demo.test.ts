import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { till, useFolders, useProcesses } from "../../support/programs/till.ts";
import { until } from "../../support/until.ts";

describe("till demo", () => {
  const folders = useFolders();
  const processes = useProcesses();

  it("goes from an empty folder to a paid invoice and its signed webhook, and cleans up", async () => {
    const temporary = await folders.make();
    const words = ["demo", "--json", "--port", "0"];
    const demo = processes.start(words, { TMPDIR: temporary, TILL_SANDBOX_BLOCK_MS: "200" });
    const printed = JSON.parse(await demo.line(/^\{/)) as Record<string, string>;
    expect(printed).to.have.all.keys(
      ...["checkoutUrl", "apiBase", "docsUrl", "apiKey", "shopKey", "adminEmail", "adminPassword"],
    );
    const { checkoutUrl = "", apiBase = "", apiKey = "" } = printed;
    expect(apiKey).to.match(/^till_test_/);
    const told = await fetch(`${apiBase}/me`, {
      headers: { "X-Service-Key": printed["shopKey"] ?? "" },
    });
    expect(await told.json()).to.have.nested.property("apiKey.scopes[0]", "shop");
    expect((await fetch(printed["docsUrl"] ?? "")).status).to.equal(200);
    expect((await fetch(checkoutUrl)).status).to.equal(200);

    const login = await fetch(`${apiBase}/auth/login`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ email: printed["adminEmail"], password: printed["adminPassword"] }),
    });
    expect(login.status).to.equal(200);

    const [name = ""] = await demoFolders(temporary);
    const folder = join(temporary, name);
    const list = await till(["org", "list", "--search", "nook", "-q", "--data-dir", folder]);
    const organization = `${apiBase}/organizations/${list.stdout.trim()}`;
    const invoices = `${organization}/invoices`;
    const headers = { "X-Service-Key": apiKey };
    // The shops of the guides sell with the other key, which registers no wallet.
    const shop = { "X-Service-Key": printed["shopKey"] ?? "", "Content-Type": "application/json" };
    const price = { amount: "5.00", settlementCurrency: "USD", tokenSymbol: "USDT" };
    const asked = { ...price, network: "sandbox", externalId: "of-a-shop" };
    const body = JSON.stringify(asked);
    const sold = await fetch(`${organization}/invoices`, { method: "POST", headers: shop, body });
    expect(sold.status).to.equal(201);
    const made = (await sold.json()) as { readonly id: string };
    const canceled = await fetch(`${organization}/invoices/${made.id}/cancel`, {
      method: "POST",
      headers: shop,
    });
    expect(canceled.status).to.equal(200);
    const wallets = await fetch(`${organization}/wallets`, {
      method: "POST",
      headers: shop,
      body: "{}",
    });
    expect(wallets.status).to.equal(403);
    const invoice = async () => {
      const answer = await fetch(`${invoices}?externalId=demo-1`, { headers });
      const { data } = (await answer.json()) as { data: { id: string; status: string }[] };
      return data[0] ?? { id: "", status: "" };
    };
    const { id, status } = await invoice();
    expect(status).to.equal("open");

    const selected = await fetch(`${organization}/billing/subscription/select`, {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/json" },
      body: JSON.stringify({ plan: "growth" }),
    });
    expect(selected.status).to.equal(200);
    const subscription = (await selected.json()) as {
      status: string;
      openInvoice: { status: string; checkoutUrl: string } | null;
    };
    expect(subscription.status).to.equal("trialing");
    expect(subscription.openInvoice?.status).to.equal("open");
    expect((await fetch(subscription.openInvoice?.checkoutUrl ?? "")).status).to.equal(200);

    // With the variables that the demo prints, commands may name receivers on this machine, as its server may.
    const variables = { TILL_DATA_DIR: folder, TILL_ORGANIZATION: list.stdout.trim() };
    const added = await till(["webhook", "add", "http://127.0.0.1:3000/"], { env: variables });
    expect(added.code, added.stderr).to.equal(0);

    // A payment of another amount finds its invoice too: it has an address of its own.
    const part = await till(["sandbox", "pay", id, "--amount", "10.00", "--data-dir", folder]);
    expect(part.code, part.stderr).to.equal(0);
    await until("the part", invoice, (one) => one.status === "partially_paid");
    const rest = await till(["sandbox", "pay", id, "--json", "--data-dir", folder]);
    expect(JSON.parse(rest.stdout)).to.include({ amount: "14.00", tokenSymbol: "USDT" });
    await until("the rest", invoice, (one) => one.status === "paid");
    await until(
      "the webhook",
      () => demo.stderr(),
      (text) => text.includes('"invoice.paid"'),
    );

    process.kill(demo.pid, "SIGINT");
    expect(await demo.exit()).to.deep.equal({ code: 0, signal: null });
    expect(demo.stdout().trim().split("\n")).to.have.length(1);
    expect(await demoFolders(temporary)).to.deep.equal([]);
  });
});

/** Tools that tests run under leave folders of theirs there. */
async function demoFolders(temporary: string): Promise<string[]> {
  return (await readdir(temporary)).filter((name) => name.startsWith("till-demo-"));
}
