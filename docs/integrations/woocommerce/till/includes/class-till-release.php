<?php
defined( 'ABSPATH' ) || exit;

/** Cancels the open invoice of an order that no longer waits for it: nobody shall pay what is canceled or paid otherwise. */
class Till_Release {
	/** @var array<string,int> Ids of orders, by the ids of their invoices. */
	private static $queue = array();

	public static function register() {
		add_action( 'woocommerce_update_order', array( __CLASS__, 'saved' ), 10, 2 );
		foreach ( array( 'woocommerce_before_trash_order', 'woocommerce_before_delete_order', 'wp_trash_post', 'before_delete_post' ) as $hook ) {
			add_action( $hook, array( __CLASS__, 'removed' ) );
		}
		// After the answer was made: a save may be one of many, and Till may be slow.
		add_action( 'shutdown', array( __CLASS__, 'run' ) );
	}

	public static function saved( $order_id, $order = null ) {
		$order = $order instanceof WC_Order ? $order : wc_get_order( $order_id );
		if ( $order instanceof WC_Order && self::is_over( $order ) ) {
			self::$queue[ $order->get_meta( Till_Order::CURRENT ) ] = $order->get_id();
		}
	}

	public static function removed( $order_id ) {
		$order = 'wp_trash_post' === current_action() && 'shop_order' !== get_post_type( $order_id ) ? false : wc_get_order( $order_id );
		if ( $order instanceof WC_Order && self::is_unsettled( $order ) ) {
			self::$queue[ $order->get_meta( Till_Order::CURRENT ) ] = $order->get_id();
		}
	}

	/** True if the order has a current invoice that may be open. */
	private static function is_unsettled( WC_Order $order ) {
		$id = (string) $order->get_meta( Till_Order::CURRENT );
		return '' !== $id
			&& $order->get_meta( Till_Order::RELEASED ) !== $id
			&& ! in_array( Till_Order::status_of( $order, $id ), array( 'paid', 'expired', 'canceled' ), true );
	}

	/** True if the order is to be paid by another method, was paid otherwise, or is canceled. */
	private static function is_over( WC_Order $order ) {
		$is_elsewhere = ! Till_Order::is_by_till( $order ) || $order->is_paid() || $order->has_status( array( 'cancelled', 'refunded', 'trash' ) );
		return $is_elsewhere && self::is_unsettled( $order );
	}

	public static function run() {
		$queue       = self::$queue;
		self::$queue = array();
		$gateway     = array() === $queue ? null : Till_Gateway::instance();
		if ( null === $gateway || $gateway->needs_setup() ) {
			return;
		}
		$client = $gateway->client( true );
		$down   = null;
		foreach ( $queue as $id => $order_id ) {
			// Whoever cancels a hundred orders at once must not wait a hundred times.
			if ( null !== $down ) {
				self::report( $order_id, $id, $down );
				continue;
			}
			try {
				$found = Till_Store::change(
					$order_id,
					static function ( $order ) use ( $client, $id ) {
						// It may have been changed back or to another invoice, or be a copy.
						$is_current = Till_Store::current( $order ) === $id;
						$invoice    = $is_current && self::is_over( $order ) ? self::settle( $client, $id ) : null;
						if ( null !== $invoice ) {
							Till_Order::release( $order, $invoice );
						}
						return true;
					}
				);
				if ( null === $found && null === Till_Store::find( $id ) ) {
					self::settle( $client, $id );
				}
			} catch ( Till_Problem $problem ) {
				self::report( $order_id, $id, $problem );
				$down = 'unreachable' === $problem->problem ? $problem : null;
				if ( 'not_found' === $problem->problem ) {
					self::give_up( $order_id, $id );
				}
			}
		}
	}

	/** Cancels the invoice if nothing was paid. Returns it as it is then; null if another shop made it. */
	private static function settle( Till_Client $client, $id ) {
		$invoice = $client->invoice( $id );
		if ( ! Till_Shop::owns( $invoice ) ) {
			return null;
		}
		return 'open' === $invoice['status'] ? $client->cancel_invoice( $id ) : $invoice;
	}

	/** Asks no more for an invoice of an organization that the shop has left: each save would repeat the note. */
	private static function give_up( $order_id, $id ) {
		try {
			Till_Store::change(
				$order_id,
				static function ( $order ) use ( $id ) {
					$order->update_meta_data( Till_Order::RELEASED, $id );
				}
			);
		} catch ( Till_Problem $problem ) {
			// A busy order is asked about again when it is saved.
			return;
		}
	}

	private static function report( $order_id, $id, Till_Problem $problem ) {
		wc_get_logger()->error( "Order $order_id, invoice $id: {$problem->problem}: {$problem->getMessage()}", array( 'source' => 'till' ) );
		$order = wc_get_order( $order_id );
		if ( $order instanceof WC_Order ) {
			/* translators: 1: id of an invoice, 2: reason */
			$order->add_order_note( sprintf( __( 'The invoice %1$s could not be canceled in Till, which may still take money for it. Cancel it there. (%2$s)', 'till' ), $id, $problem->getMessage() ) );
		}
	}
}
