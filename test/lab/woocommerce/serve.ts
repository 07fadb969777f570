// Sets up a shop as the proof does and keeps it running, for trying the plug-in by hand:
// npx tsx test/lab/woocommerce/serve.ts --pair newest --storage hpos --checkout block --plugin FOLDER --port 8201
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { connect } from "./connect.ts";
import { ensureParts, pairs } from "./parts.ts";
import { admin, openShop, pluginFolder, type Storage } from "./shop.ts";
import { startTill } from "./till-beside.ts";
import { inWorkspace } from "./workspace.ts";

const { values } = parseArgs({
  options: {
    pair: { type: "string", default: "newest" },
    storage: { type: "string", default: "hpos" },
    checkout: { type: "string", default: "block" },
    plugin: { type: "string", default: pluginFolder },
    /** Of the shop; Till has the next one. */
    port: { type: "string", default: "0" },
  },
});

const pair = pairs.find(({ name }) => name === values.pair);
if (pair === undefined) throw new Error("--pair is newest or oldest");
const port = Number(values.port);
await inWorkspace(async (folder, database) => {
  await ensureParts(pair);
  const shop = await openShop(folder, database, {
    pair,
    storage: values.storage as Storage,
    plugin: resolve(values.plugin),
    isLinked: true,
    ...(port === 0 ? {} : { port }),
  });
  const till = await startTill(folder, "till", port === 0 ? 0 : port + 1);
  await connect(shop, till);
  const checkout = await shop.control<string>("checkout", values.checkout);
  const product = await shop.control<number>("product_id");
  console.log(`Shop      ${shop.url}
Buy       ${shop.url}/?add-to-cart=${String(product)} and then ${checkout}
Admin     ${shop.url}/wp-admin/  ${admin.name}  ${admin.password}
Settings  ${shop.url}/wp-admin/admin.php?page=wc-settings&tab=checkout&section=till
Files     ${shop.folder}  (wp-content/debug.log, wp-content/mails.jsonl)
Database  mariadb --no-defaults --socket=${database.socket} -uroot shop1
Till      ${till.url}  export TILL_DATA_DIR=${till.env["TILL_DATA_DIR"] ?? ""} TILL_ORGANIZATION=${till.organization}
Press Ctrl-C to end and remove it.`);
  await new Promise((resolvePromise) => {
    process.once("SIGINT", resolvePromise);
    process.once("SIGTERM", resolvePromise);
  });
  await shop.halt();
  await till.stop();
});
