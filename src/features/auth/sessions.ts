import type { App } from "../../app.ts";
import { toIso, toIsoOrNull, type Instant } from "../../kernel/clock.ts";
import { notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import type { Reader, WriteContext } from "../../platform/database/database.ts";
import type { SqlValue } from "../../platform/database/schema/table.ts";
import { pageQuery } from "../../platform/database/query/lists.ts";
import { lockSession, revokeSession } from "./store.ts";

/** A user's login, for the operator. */
interface SessionView {
  readonly id: Id<"session">;
  readonly userId: Id<"user">;
  readonly email: string;
  readonly createdAt: Instant;
  /** The last use of its refresh token, or its start; access tokens leave no trace. */
  readonly lastUsedAt: Instant;
  /** The end of its newest refresh token, without which the user must log in again. */
  readonly expiresAt: Instant | null;
  readonly revokedAt: Instant | null;
}

/** Returns the sessions that can still be used, newest first; those of one user if an e-mail address is given. */
export async function listSessions(
  app: App,
  { limit, cursor, email }: PageQuery & { readonly email?: string | undefined },
): Promise<Page<SessionView>> {
  const page = parsePage({ limit, cursor }, "sessions", { email });
  const { rest, values } = pageQuery(
    page,
    [
      ["u.email =", email?.toLowerCase()],
      ["COALESCE(s.revoked_at, 0) =", 0],
      [`${newest("expires_at")} >`, app.clock.now()],
    ],
    "s.id",
  );
  return toPage(await sessionViews(app.db, rest, values), page);
}

/** Returns a session, which may have ended. */
export function getSession(app: App, sessionId: Id<"session">): Promise<SessionView> {
  return sessionView(app.db, sessionId);
}

/** Revokes a session with all its tokens: the user's next request is refused. Repeating has no effect. */
export function endSession(
  app: App,
  context: WriteContext,
  sessionId: Id<"session">,
): Promise<SessionView> {
  return app.db.write(context, async (tx) => {
    const session = await lockSession(tx, sessionId);
    if (session === null) throw notFound();
    const at = app.clock.now();
    if (await revokeSession(tx, sessionId, at)) {
      app.journal.record(tx, at, {
        action: "session.revoked",
        organizationId: null,
        subjectType: "session",
        subjectId: sessionId,
        changes: { userId: session.userId },
      });
    }
    return sessionView(tx, sessionId);
  });
}

async function sessionView(reader: Reader, sessionId: Id<"session">): Promise<SessionView> {
  const [view] = await sessionViews(reader, "WHERE s.id = $1", [sessionId]);
  if (view === undefined) throw notFound();
  return view;
}

/** The latest time of a session's refresh tokens, as an SQL expression. */
function newest(time: "created_at" | "expires_at"): string {
  return `(SELECT MAX(${time}) FROM refresh_tokens WHERE session_id = s.id)`;
}

/** Reads sessions with their users and their newest refresh tokens. */
function sessionViews(
  reader: Reader,
  rest: string,
  values: readonly SqlValue[],
): Promise<SessionView[]> {
  return reader.all<SessionView>(
    `SELECT s.id AS "id", s.user_id AS "userId", u.email AS "email", s.created_at AS "createdAt",
       COALESCE(${newest("created_at")}, s.created_at) AS "lastUsedAt",
       ${newest("expires_at")} AS "expiresAt", s.revoked_at AS "revokedAt"
     FROM sessions s JOIN users u ON u.id = s.user_id ${rest}`,
    values,
  );
}

/** Presents a session for the operator. */
export function presentSession(view: SessionView) {
  return {
    ...view,
    createdAt: toIso(view.createdAt),
    lastUsedAt: toIso(view.lastUsedAt),
    expiresAt: toIsoOrNull(view.expiresAt),
    revokedAt: toIsoOrNull(view.revokedAt),
  };
}
