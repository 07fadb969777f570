<?php
defined( 'ABSPATH' ) || exit;

/** Receives webhooks at /?wc-api=till. */
class Till_Receiver {
	/** Seconds after which the lock of a process that died is taken over. */
	const LOCK_SECONDS = 60;

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
			return 400;
		}
		$event = json_decode( $body, true );
		if ( ! isset( $event['type'], $event['data']['id'], $event['data']['objectVersion'] ) ) {
			return 204;
		}
		$data    = $event['data'];
		$invoice = 0 === strpos( $event['type'], 'invoice.' ) ? $data['id'] : ( isset( $data['invoiceId'] ) ? $data['invoiceId'] : '' );
		// Invoices of other shops and of payment links have no order here.
		if ( '' === $invoice || null === Till_Order::find( $invoice ) ) {
			return 204;
		}
		// Two deliveries may arrive at once.
		$lock = self::lock( 'till_lock_' . $invoice );
		if ( null === $lock ) {
			return 503;
		}
		try {
			Till_Order::apply_event( Till_Order::find( $invoice ), $id, $event );
			return 204;
		} catch ( Throwable $failure ) {
			wc_get_logger()->error( "Event $id: {$failure->getMessage()}", array( 'source' => 'till' ) );
			return 500;
		} finally {
			self::unlock( $lock );
		}
	}

	/** Returns a lock, or null if another process has it. Names of options are unique in the database. */
	private static function lock( $name ) {
		global $wpdb;
		$value  = sprintf( '%d %s', time(), wp_generate_password( 12, false ) );
		$insert = "INSERT IGNORE INTO {$wpdb->options} (option_name, option_value, autoload) VALUES (%s, %s, 'no')";
		if ( 1 === $wpdb->query( $wpdb->prepare( $insert, $name, $value ) ) ) {
			return array( $name, $value );
		}
		$held = (string) $wpdb->get_var( $wpdb->prepare( "SELECT option_value FROM {$wpdb->options} WHERE option_name = %s", $name ) );
		if ( '' === $held || time() - (int) $held <= self::LOCK_SECONDS ) {
			return null;
		}
		$update = "UPDATE {$wpdb->options} SET option_value = %s WHERE option_name = %s AND option_value = %s";
		return 1 === $wpdb->query( $wpdb->prepare( $update, $value, $name, $held ) ) ? array( $name, $value ) : null;
	}

	private static function unlock( array $lock ) {
		global $wpdb;
		$wpdb->query( $wpdb->prepare( "DELETE FROM {$wpdb->options} WHERE option_name = %s AND option_value = %s", ...$lock ) );
	}
}
