import { basePathOf, type App } from "../../../app.ts";
import type { PageProblem, ProblemPage } from "../../../http/page.ts";
import { fill, formatDuration, type Catalogue } from "./catalogue.ts";
import { languageLinks, readLanguage } from "./languages.ts";
import { second } from "../../../kernel/clock.ts";
import { renderMessage } from "./render.ts";
import type { StateWords } from "./page-words.ts";
import { lastCheckoutOrigins } from "../checkouts.ts";

/** Time until the reload if the problem names none, in seconds. */
const retrySeconds = 10;
/** Statuses of problems that end without the payer's help. */
const passing: ReadonlySet<number> = new Set([429, 503]);

const pagePath = /^\/(?:verify$|link\/(lnk_[0-9a-z]{26})?|pay(?:\/(chk_[0-9a-z]{26,64}))?(?:\/|$))/;

/**
 * Renders a problem under `/pay` and `/link`, and of `/verify`; returns null for other paths. Payers, who may have just
 * paid, see words and the way back to their payment. The page of a problem that passes reloads after the time in
 * Retry-After; without a script, its button does. The origins that embed a checkout may embed its problems.
 */
export function renderProblemPage(app: App, problem: PageProblem): ReturnType<ProblemPage> {
  const match = pagePath.exec(problem.path);
  if (match === null) return null;
  const { text, languageQuery } = readLanguage(app, problem);
  const basePath = basePathOf(app);
  const words = describeProblem(problem, text);
  const [, linkId, checkoutId] = match;
  const own = ownPath(problem.path, linkId, checkoutId);
  const page = own === null ? null : basePath + own;
  const path = page === null || problem.status === 404 ? null : page + languageQuery;
  const isForm = problem.method === "POST";
  // A reload would look as if the form had been received.
  const retry = path !== null && passing.has(problem.status) && !isForm;
  const embedders = checkoutId === undefined ? [] : lastCheckoutOrigins(app, checkoutId);
  const rendered = renderMessage({
    ...words,
    paragraphs: [
      ...words.paragraphs,
      ...(isForm && problem.status >= 500 ? [text.formNotReceived] : []),
    ],
    text,
    basePath,
    title: words.headline,
    path,
    languages: languageLinks(page ?? "", text),
    retrySeconds: retry ? (problem.retryAfterSeconds ?? retrySeconds) : null,
  });
  return { page: rendered, policy: { connects: [], embedders } };
}

/** Returns the path of the page to which a payer goes back; null if the problem's path names none. */
function ownPath(
  path: string,
  linkId: string | undefined,
  checkoutId: string | undefined,
): string | null {
  if (path === "/verify") return path;
  if (linkId !== undefined) return `/link/${linkId}`;
  return checkoutId === undefined ? null : `/pay/${checkoutId}`;
}

function describeProblem(
  { status, requestId, retryAfterSeconds }: PageProblem,
  text: Catalogue,
): StateWords {
  if (status === 404) {
    return { tone: "over", headline: text.notFoundHeadline, paragraphs: [text.notFoundLead] };
  }
  if (status === 429) {
    const time = formatDuration(text, (retryAfterSeconds ?? retrySeconds) * second);
    return {
      tone: "careful",
      headline: text.busyHeadline,
      paragraphs: [fill(text.busyLead, { time })],
    };
  }
  if (status === 503) {
    return {
      tone: "careful",
      headline: text.unavailableHeadline,
      paragraphs: [text.unavailableLead],
    };
  }
  if (status >= 500) {
    const paragraphs = [text.failedLead, fill(text.failedReference, { reference: requestId })];
    return { tone: "careful", headline: text.failedHeadline, paragraphs };
  }
  return { tone: "careful", headline: text.refusedHeadline, paragraphs: [text.refusedLead] };
}
