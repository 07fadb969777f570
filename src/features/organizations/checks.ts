import { queryCheck, type Check } from "../../platform/database/schema/checks.ts";

export const organizationChecks: readonly Check[] = [
  queryCheck({
    name: "organizations.verification",
    describe: "An organization's verification status matches its review history.",
    advice:
      "Read the history with till org show, then decide again with till org approve or till org reject.",
    // Two exceptions: changing a legal field revokes an approval without a decision, and the platform organization
    // starts approved.
    sql: `SELECT organizations.id AS "row",
        'It is ' || verification_status || ' and its last decision made it ' || COALESCE(last.to_status, 'unverified') || '.'
          AS fault
      FROM organizations LEFT JOIN organization_reviews AS last ON last.id = (
        SELECT MAX(review.id) FROM organization_reviews AS review
        WHERE review.organization_id = organizations.id
      )
      WHERE is_platform = 0 AND verification_status <> COALESCE(last.to_status, 'unverified')
        AND NOT (verification_status = 'unverified' AND last.to_status = 'approved')
      ORDER BY organizations.id`,
  }),
];
