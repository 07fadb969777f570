<?php
defined( 'ABSPATH' ) || exit;

/** Tells customers on the shop's pages how far the payment of their order is. */
class Till_Page {
	/** The transient that says that Till did not answer, and its seconds: pages do not wait for it again so soon. */
	const DOWN         = 'till_down';
	const DOWN_SECONDS = 30;

	/** @var array<int,array> The invoices that were read for this page, by the ids of their orders. */
	private static $invoices = array();

	public static function register() {
		add_action( 'template_redirect', array( __CLASS__, 'refresh' ) );
		add_action( 'woocommerce_before_thankyou', array( __CLASS__, 'show' ) );
		add_action( 'woocommerce_view_order', array( __CLASS__, 'show' ), 5 );
		add_filter( 'woocommerce_thankyou_order_received_text', array( __CLASS__, 'text' ), 20, 2 );
	}

	/** Reads the invoice before the page is made, in case that webhooks are late or not set up. */
	public static function refresh() {
		$order   = self::order();
		$gateway = null === $order ? null : Till_Gateway::instance();
		$id      = null === $gateway || ! Till_Order::is_by_till( $order ) ? '' : Till_Store::current( $order );
		if ( '' === $id || $order->is_paid() || false !== get_transient( self::DOWN ) ) {
			return;
		}
		try {
			$invoice                            = $gateway->client( true )->invoice( $id );
			self::$invoices[ $order->get_id() ] = $invoice;
			$is_news = in_array( $invoice['status'], array( 'paid', 'confirming', 'expired', 'canceled' ), true );
			if ( $is_news && Till_Order::status_of( $order, $id ) !== $invoice['status'] ) {
				Till_Store::change(
					$order->get_id(),
					static function ( $fresh ) use ( $invoice ) {
						Till_Order::apply_invoice( $fresh, $invoice );
					}
				);
			}
		} catch ( Till_Problem $problem ) {
			// The webhook will tell. A busy order is being changed by one.
			if ( 'unreachable' === $problem->problem ) {
				set_transient( self::DOWN, 'yes', self::DOWN_SECONDS );
			}
		}
	}

	/** Returns the order that the page shows to somebody who may see it, or null. */
	private static function order() {
		$order = null;
		if ( is_order_received_page() ) {
			$order = wc_get_order( absint( get_query_var( 'order-received' ) ) );
			$key   = isset( $_GET['key'] ) ? wc_clean( wp_unslash( $_GET['key'] ) ) : '';
			// A refund has no key.
			$sees  = $order instanceof WC_Order && is_string( $key ) && hash_equals( $order->get_order_key(), $key );
		} elseif ( is_view_order_page() ) {
			$id    = absint( get_query_var( 'view-order' ) );
			$order = wc_get_order( $id );
			$sees  = current_user_can( 'view_order', $id );
		}
		return $order instanceof WC_Order && $sees ? $order : null;
	}

	/** Shows the state of an order that is not paid, with the way on. */
	public static function show( $order_id ) {
		$order = wc_get_order( $order_id );
		if ( ! $order || ! self::waits( $order ) ) {
			return;
		}
		list( $text, $links ) = self::state( $order );
		foreach ( $links as $label => $address ) {
			$text .= sprintf( ' <a class="button" href="%s">%s</a>', esc_url( $address ), esc_html( $label ) );
		}
		wc_print_notice( $text, 'notice' );
		if ( $order->has_status( 'failed' ) ) {
			add_filter( 'gettext_woocommerce', array( __CLASS__, 'not_declined' ), 10, 2 );
		}
	}

	/** Replaces the sentence of WooCommerce's template that a bank has declined the payment: nobody has. */
	public static function not_declined( $translation, $text ) {
		return 0 === strpos( $text, 'Unfortunately your order cannot be processed' ) ? self::pending_text() : $translation;
	}

	/** Replaces WooCommerce's thanks, which sound as if everything were done. */
	public static function text( $text, $order = null ) {
		$order = $order instanceof WC_Order ? $order : self::order();
		return null !== $order && self::waits( $order ) ? esc_html( self::pending_text() ) : $text;
	}

	private static function pending_text() {
		return __( 'Your order is complete once your payment is confirmed.', 'till' );
	}

	private static function waits( WC_Order $order ) {
		return Till_Order::is_by_till( $order ) && $order->has_status( array( 'pending', 'on-hold', 'failed' ) );
	}

	/** Returns a sentence, safe to print, and links by their labels. */
	private static function state( WC_Order $order ) {
		$again   = $order->needs_payment() ? array( __( 'Try again', 'till' ) => $order->get_checkout_payment_url() ) : array();
		$invoice = isset( self::$invoices[ $order->get_id() ] ) ? self::$invoices[ $order->get_id() ] : null;
		if ( null === $invoice ) {
			return array( esc_html__( 'Your order is not paid yet.', 'till' ), $again );
		}
		$page  = $invoice['checkoutUrl'];
		$token = $invoice['tokenSymbol'];
		$rest  = "{$invoice['remainingAmount']} $token";
		switch ( $invoice['status'] ) {
			case 'open':
				/* translators: %s: amount with token */
				return array( esc_html( sprintf( __( 'Your order is not paid yet. %s are missing.', 'till' ), $rest ) ), array( __( 'Continue to the payment', 'till' ) => $page ) );
			case 'partially_paid':
				/* translators: 1: amount with token, 2: amount with token */
				$text = sprintf( __( 'A part of your payment has arrived: %1$s. %2$s are still missing.', 'till' ), "{$invoice['paidTokenAmount']} $token", $rest );
				return array( esc_html( $text ), array( __( 'Pay the rest', 'till' ) => $page ) );
			case 'confirming':
				return array( esc_html__( 'Your payment has arrived. The network is confirming it.', 'till' ), array( __( 'See the payment', 'till' ) => $page ) );
			case 'paid':
				return array( esc_html__( 'Your payment has arrived. We are checking your order.', 'till' ), array() );
			case 'expired':
				$text = 'underpaid' === $invoice['exception']
					/* translators: %s: amount with token */
					? sprintf( __( 'The time to pay is over, and only a part has arrived: %s. Please contact us, or try again with the whole amount.', 'till' ), "{$invoice['paidTokenAmount']} $token" )
					: __( 'The time to pay is over, and no payment has arrived.', 'till' );
				return array( esc_html( $text ), $again + array( __( 'I have paid', 'till' ) => $page ) );
			default:
				return array( esc_html__( 'The payment was canceled.', 'till' ), $again );
		}
	}
}
