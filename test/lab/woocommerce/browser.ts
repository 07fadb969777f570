import {
  chromium,
  type Browser,
  type BrowserContext,
  type Page,
  type Request,
} from "playwright-core";
import { browserPath } from "../../support/suites/describe-in-browser.ts";
import { patienceMs } from "../../support/until.ts";
import { Missing } from "./parts.ts";
import { admin, type CheckoutKind, type Shop } from "./shop.ts";

/** @throws Missing */
export async function openBrowser(): Promise<Browser> {
  const executablePath = browserPath();
  if (executablePath === null) {
    throw new Missing("Chromium is not installed: TILL_TEST_CHROMIUM may name one.");
  }
  return chromium.launch({
    executablePath,
    // A proof that is ended ends at once, and its guards clean up.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    args: [
      "--no-sandbox",
      "--disable-background-networking",
      "--disable-gpu",
      // Pages of WooCommerce name other hosts, which do not belong to the proof.
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
      "--blink-settings=imagesEnabled=false",
    ],
  });
}

/** Opens the browser of a person. */
export async function newPerson(browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext();
  context.setDefaultTimeout(patienceMs);
  context.on("page", (page) => {
    page.on("dialog", (dialog) => void dialog.accept());
  });
  return context;
}

/** Makes a browser forget who its person is. It keeps the scripts that it has read. */
export async function forget(context: BrowserContext, page: Page, origin: string): Promise<void> {
  const session = await context.newCDPSession(page);
  await session.send("Storage.clearDataForOrigin", {
    origin,
    storageTypes: "cookies,local_storage,indexeddb",
  });
  await session.detach();
}

const payer = {
  first_name: "Mia",
  last_name: "Payer",
  address_1: "1 Main Street",
  city: "Sacramento",
  postcode: "95814",
  phone: "5550100",
} as const;
const email = "mia@example.com";

/** The fields and the button of each kind of checkout page. */
const forms = {
  classic: {
    email: "#billing_email",
    field: (name: string) => `#billing_${name}`,
    method: (id: string) => `label[for=payment_method_${id}]`,
    button: "#place_order",
    errors: ".woocommerce-error, .woocommerce-NoticeGroup .is-error",
  },
  block: {
    email: "#email",
    // One address is enough, of whichever kind.
    field: (name: string) => `:is(#shipping-${name}, #billing-${name}):visible`,
    method: (id: string) => `label[for=radio-control-wc-payment-method-options-${id}]`,
    button: ".wc-block-components-checkout-place-order-button",
    errors: ".wc-block-components-notice-banner.is-error",
  },
} as const;

export type Method = "till" | "bacs";

/** Puts a product into the cart, and fills in the checkout page up to its button. */
export async function fillCheckout(
  page: Page,
  shop: Shop,
  kind: CheckoutKind,
  method: Method = "till",
): Promise<void> {
  const form = forms[kind];
  const address = await shop.control<string>("checkout", kind);
  const product = await shop.control<number>("product_id");
  await page.goto(`${shop.url}/?add-to-cart=${String(product)}`);
  await page.goto(address);
  await page.locator(form.button).waitFor();
  await page.locator(form.email).fill(email);
  // The fields of the block are there once it knows the country's.
  await page.locator(form.field("postcode")).first().waitFor();
  for (const [name, value] of Object.entries(payer)) {
    const field = page.locator(form.field(name)).first();
    if (await field.isVisible()) await field.fill(value);
  }
  await page.locator(form.method(method)).click();
}

/** The time after which a click that sent nothing is repeated, in milliseconds. */
const clickMs = 8_000;
const clicksMax = 10;

/** Clicks the checkout page's button. The page ignores clicks while it calculates: people click again. */
export async function clickPlaceOrder(page: Page, kind: CheckoutKind): Promise<void> {
  // WordPress sends a PUT, by which the block stores what was entered, as a POST too.
  const isOrder = (request: Request) =>
    request.method() === "POST" &&
    request.headers()["x-http-method-override"] === undefined &&
    /wc\/store\/v1\/checkout|wc-ajax=checkout/.test(request.url());
  for (let clicks = 0; clicks < clicksMax; clicks += 1) {
    const sent = page.waitForRequest(isOrder, { timeout: clickMs }).then(
      () => true,
      () => false,
    );
    await page.locator(forms[kind].button).click();
    if (await sent) return;
  }
  throw new Error("the checkout page sends no order");
}

/** Buys a product at the checkout page, up to the first page of Till; returns the order's id. */
export async function buy(page: Page, shop: Shop, kind: CheckoutKind): Promise<number> {
  const before = await shop.control<number>("newest_order");
  await fillCheckout(page, shop, kind);
  await clickPlaceOrder(page, kind);
  await untilAtTill(page);
  const order = await shop.control<number>("newest_order");
  if (order <= before) throw new Error("the checkout made no order");
  return order;
}

/** Returns the error that the checkout page shows. */
export async function checkoutError(page: Page, kind: CheckoutKind): Promise<string> {
  return page.locator(forms[kind].errors).first().innerText();
}

/** Chooses a method on the page where an existing order is paid, and sends the form. */
export async function payExisting(page: Page, payUrl: string, method: Method): Promise<void> {
  await page.goto(payUrl);
  await sendPayment(page, method);
}

/** The same on the page that is open. */
export async function sendPayment(page: Page, method: Method): Promise<void> {
  await page.locator(`label[for=payment_method_${method}]`).click();
  await page.locator("#place_order").click();
}

export async function untilAtTill(page: Page): Promise<void> {
  await page.waitForURL(/\/pay\/chk_/);
}

/** Presses a button of the test panel on Till's page. */
export async function press(
  page: Page,
  action: "pay" | "underpay" | "overpay" | "expire",
): Promise<void> {
  await page.locator(`button[name=action][value=${action}]`).click();
  await page.waitForLoadState();
}

/** Logs the admin in, if that has not been done in this browser. */
export async function openAsAdmin(page: Page, address: string): Promise<void> {
  await page.goto(address);
  if (!page.url().includes("wp-login.php")) return;
  await page.locator("#user_login").fill(admin.name);
  await page.locator("#user_pass").fill(admin.password);
  await page.locator("#wp-submit").click();
  await page.waitForURL(({ pathname }) => pathname !== "/wp-login.php");
  await page.goto(address);
}
