import type { UserActor } from "../../../kernel/actor.ts";
import type { MembershipAccess } from "../../../api/declare/access.ts";
import { toIso, toIsoOrNull, type Clock, type Instant } from "../../../kernel/clock.ts";
import { notFound } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import { parsePage, toPage, type Page, type PageQuery } from "../../../kernel/page.ts";
import type { Database, Reader, WriteContext } from "../../../platform/database/database.ts";
import type { SqlValue } from "../../../platform/database/schema/table.ts";
import { pageQuery } from "../../../platform/database/query/page.ts";
import type { Journal } from "../../../platform/journal/index.ts";
import type { AccessTokens } from "./access-tokens.ts";
import { liveSession, lockSession, membership, revokeSession, type LiveSession } from "../store.ts";

/** Lookups for the authorization of every request, so that logout, removal and demotion take effect at once. */
export interface Sessions {
  principal(accessToken: string): Promise<UserActor | null>;
  standing(
    userId: Id<"user">,
    organizationId: Id<"organization">,
  ): Promise<MembershipAccess | null>;
}

/** A user's login, for the operator. */
export interface SessionView {
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

/** The operator's view of all logins. */
export interface SessionService {
  /** Returns the sessions that can still be used, newest first; those of one user if an e-mail address is given. */
  list(query: PageQuery & { readonly email?: string | undefined }): Promise<Page<SessionView>>;
  /** Returns a session that may have ended. */
  find(sessionId: Id<"session">): Promise<SessionView>;
  /** Revokes a session with all its tokens: the user's next request is refused. Repeating has no effect. */
  end(context: WriteContext, sessionId: Id<"session">): Promise<SessionView>;
}

export function makeSessions(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly journal: Journal;
  readonly accessTokens: AccessTokens;
}): Sessions & SessionService {
  const { db, clock, journal } = deps;

  async function viewOf(reader: Reader, sessionId: Id<"session">): Promise<SessionView> {
    const [view] = await sessionViews(reader, "WHERE s.id = $1", [sessionId]);
    if (view === undefined) throw notFound();
    return view;
  }

  return {
    async list({ limit, cursor, email }) {
      const page = parsePage({ limit, cursor }, "sessions", { email });
      const { rest, values } = pageQuery(
        page,
        [
          ["u.email =", email?.toLowerCase()],
          ["COALESCE(s.revoked_at, 0) =", 0],
          [`${newest("expires_at")} >`, clock.now()],
        ],
        "s.id",
      );
      return toPage(await sessionViews(db, rest, values), page);
    },

    find: (sessionId) => viewOf(db, sessionId),

    end(context, sessionId) {
      return db.write(context, async (tx) => {
        const session = await lockSession(tx, sessionId);
        if (session === null) throw notFound();
        const at = clock.now();
        if (await revokeSession(tx, sessionId, at)) {
          journal.record(tx, at, {
            action: "session.revoked",
            organizationId: null,
            subjectType: "session",
            subjectId: sessionId,
            changes: { userId: session.userId },
          });
        }
        return viewOf(tx, sessionId);
      });
    },

    async principal(accessToken) {
      const sessionId = await deps.accessTokens.verify(accessToken);
      const session = sessionId === null ? null : await liveSession(deps.db, sessionId);
      return session === null ? null : userActor(session);
    },

    async standing(userId, organizationId) {
      const found = await membership(deps.db, userId, organizationId);
      return found === null
        ? null
        : {
            organizationId,
            organizationStatus: found.status,
            isApproved: found.verificationStatus === "approved",
            role: found.role,
          };
    },
  };
}

/** Returns the actor of a session. */
export function userActor(session: LiveSession): UserActor {
  return {
    type: "user",
    id: session.userId,
    label: session.email,
    sessionId: session.sessionId,
    platformRole: session.isAdmin === 1 ? "admin" : "none",
  };
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
