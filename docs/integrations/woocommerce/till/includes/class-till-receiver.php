<?php
defined( 'ABSPATH' ) || exit;

/** Receives webhooks at /?wc-api=till. */
class Till_Receiver {
	/** The option with the times of the last deliveries that were accepted and refused, for the settings page. */
	const OPTION = 'till_deliveries';
	/** Seconds for which such a time is not written again while the result is the same. */
	const REMEMBER_SECONDS = 60;

	public static function receive() {
		$header = static function ( $name ) {
			return isset( $_SERVER[ $name ] ) ? (string) wp_unslash( $_SERVER[ $name ] ) : '';
		};
		status_header(
			self::answer(
				(string) file_get_contents( 'php://input' ),
				$header( 'HTTP_WEBHOOK_ID' ),
				$header( 'HTTP_WEBHOOK_TIMESTAMP' ),
				$header( 'HTTP_WEBHOOK_SIGNATURE' )
			)
		);
		exit;
	}

	/** Returns the HTTP status for a delivery. Till sends again what is not answered with 2xx. */
	public static function answer( $body, $id, $timestamp, $signature ) {
		$gateway = Till_Gateway::instance();
		$secret  = null === $gateway ? '' : $gateway->get_option( 'webhook_secret' );
		if ( ! Till_Signature::is_valid( $body, $id, $timestamp, $signature, $secret, time() ) ) {
			if ( '' !== $signature ) {
				self::remember( 'refused' );
			}
			return 400;
		}
		self::remember( 'accepted' );
		$event = json_decode( $body, true );
		if ( ! isset( $event['type'], $event['data']['id'], $event['data']['objectVersion'] ) ) {
			return 204;
		}
		$data     = $event['data'];
		$invoice  = 0 === strpos( $event['type'], 'invoice.' ) ? $data['id'] : ( isset( $data['invoiceId'] ) ? $data['invoiceId'] : '' );
		$order_id = '' === $invoice ? null : Till_Store::find( $invoice );
		// Invoices of other shops and of payment links have no order here.
		if ( null === $order_id ) {
			return 204;
		}
		try {
			Till_Store::change(
				$order_id,
				static function ( $order ) use ( $id, $event ) {
					Till_Order::apply_event( $order, $id, $event );
				}
			);
			return 204;
		} catch ( Till_Problem $problem ) {
			return 503;
		} catch ( Throwable $failure ) {
			wc_get_logger()->error( "Event $id: {$failure->getMessage()}", array( 'source' => 'till' ) );
			return 500;
		}
	}

	private static function remember( $result ) {
		$times = (array) get_option( self::OPTION, array() ) + array( 'accepted' => 0, 'refused' => 0 );
		$other = 'accepted' === $result ? 'refused' : 'accepted';
		if ( time() - $times[ $result ] > self::REMEMBER_SECONDS || $times[ $other ] >= $times[ $result ] ) {
			$times[ $result ] = time();
			update_option( self::OPTION, $times, false );
		}
	}
}
