import { queryCheck, type Check } from "../../platform/database/checks.ts";

export const organizationChecks: readonly Check[] = [
  queryCheck({
    name: "organizations.verification",
    describe: "An organization's verification is what its history came to.",
    advice:
      "Read the history with till org show, and decide again with till org approve or reject.",
    // A change of a legal field takes an approval back without a decision, and the platform is approved from the start.
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
