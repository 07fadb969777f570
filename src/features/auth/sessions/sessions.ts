import type { UserActor } from "../../../kernel/actor.ts";
import type { MembershipAccess } from "../../../api/declare/access.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Database } from "../../../platform/database/index.ts";
import type { AccessTokens } from "./access-tokens.ts";
import { liveSession, membership, type LiveSession } from "../store.ts";

/** Lookups for the authorization of every request, so that logout, removal and demotion take effect at once. */
export interface Sessions {
  principal(accessToken: string): Promise<UserActor | null>;
  standing(
    userId: Id<"user">,
    organizationId: Id<"organization">,
  ): Promise<MembershipAccess | null>;
}

export function makeSessions(deps: { db: Database; accessTokens: AccessTokens }): Sessions {
  return {
    async principal(accessToken) {
      const sessionId = await deps.accessTokens.verify(accessToken);
      const session = sessionId === null ? null : await liveSession(deps.db, sessionId);
      return session === null ? null : userActor(session);
    },

    async standing(userId, organizationId) {
      const found = await membership(deps.db, userId, organizationId);
      return found === null
        ? null
        : { organizationId, organizationStatus: found.status, role: found.role };
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
