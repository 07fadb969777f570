import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";
import { patienceMs } from "../until.ts";

/**
 * The paths on Debian, Ubuntu and Alpine; TILL_TEST_CHROMIUM names another. The one without a user interface, which is
 * Debian's chromium-headless-shell, takes less than half the processor time.
 */
const places = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/** Returns the path of a browser, or null if none is installed. */
export function browserPath(): string | null {
  const given = process.env["TILL_TEST_CHROMIUM"];
  return [...(given === undefined ? [] : [given]), ...places].find(existsSync) ?? null;
}

/**
 * Declares a suite in a real browser, which runs for the whole suite. Without a browser the suite is skipped with the
 * reason in its title, or fails if nothing may be skipped.
 */
export function describeInBrowser(title: string, body: (browser: () => Browser) => void): void {
  const path = browserPath();
  if (path === null) {
    const reason = "no Chromium is installed; TILL_TEST_CHROMIUM may name one";
    if (process.env["TILL_TEST_NO_SKIP"] !== "1") {
      describe.skip(`${title} (${reason})`, () => {
        body(() => {
          throw new Error(reason);
        });
      });
      return;
    }
    describe(title, () => {
      it("finds a browser", () => {
        throw new Error(reason);
      });
    });
    return;
  }
  describe(title, () => {
    let browser: Browser | undefined;
    before(async () => {
      const launched = await chromium.launch({
        executablePath: path,
        timeout: patienceMs,
        // Containers provide no sandbox; the pages are our own.
        args: ["--no-sandbox", "--disable-background-networking", "--disable-gpu"],
      });
      const newContext = launched.newContext.bind(launched);
      launched.newContext = async (options) => {
        const context = await newContext(options);
        // Of pages, their clicks and everything that they wait for.
        context.setDefaultTimeout(patienceMs);
        return context;
      };
      browser = launched;
    });
    after(() => browser?.close());
    body(() => {
      if (browser === undefined) throw new Error("the browser is there in tests only");
      return browser;
    });
  });
}
