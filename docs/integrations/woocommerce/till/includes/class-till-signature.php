<?php
defined( 'ABSPATH' ) || exit;

/** Verifies deliveries by Standard Webhooks 1.0.0. */
class Till_Signature {
	/** The tolerated difference of the clocks, in seconds. */
	const TOLERANCE_SECONDS = 300;
	/** The most signatures that are compared; a delivery has two while a secret is exchanged. */
	const SIGNATURES_MAX = 8;

	/**
	 * Returns true if the delivery was signed with the secret, just now.
	 *
	 * @param string $body      The raw body.
	 * @param string $id        The header webhook-id.
	 * @param string $timestamp The header webhook-timestamp, in seconds.
	 * @param string $signature The header webhook-signature.
	 * @param string $secret    The endpoint's secret, `whsec_…`; several are separated by blanks.
	 * @param int    $now       The time of arrival, in seconds.
	 */
	public static function is_valid( $body, $id, $timestamp, $signature, $secret, $now ) {
		if ( '' === $id || ! preg_match( '/^\d{1,12}$/D', $timestamp ) ) {
			return false;
		}
		if ( abs( $now - (int) $timestamp ) > self::TOLERANCE_SECONDS ) {
			return false;
		}
		$found = array_slice( explode( ' ', $signature ), 0, self::SIGNATURES_MAX );
		foreach ( preg_split( '/\s+/', trim( $secret ) ) as $each ) {
			$key = 0 === strpos( $each, 'whsec_' ) ? base64_decode( substr( $each, 6 ), true ) : false;
			// An empty secret would accept what everybody can sign.
			if ( false === $key || '' === $key ) {
				continue;
			}
			$right = 'v1,' . base64_encode( hash_hmac( 'sha256', "$id.$timestamp.$body", $key, true ) );
			foreach ( $found as $one ) {
				if ( hash_equals( $right, $one ) ) {
					return true;
				}
			}
		}
		return false;
	}
}
