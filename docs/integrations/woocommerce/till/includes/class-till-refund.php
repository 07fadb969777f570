<?php
defined( 'ABSPATH' ) || exit;

/** Reminds the shop, when it records a refund, that the money is still to be sent. */
class Till_Refund {
	public static function recorded( $order_id, $refund_id ) {
		$order   = wc_get_order( $order_id );
		$refund  = wc_get_order( $refund_id );
		$gateway = Till_Gateway::instance();
		$id      = $order instanceof WC_Order ? (string) $order->get_meta( Till_Order::PAID_BY ) : '';
		if ( '' === $id || ! $refund || null === $gateway || ! Till_Order::is_by_till( $order ) ) {
			return;
		}
		$amount = html_entity_decode( wp_strip_all_tags( wc_price( $refund->get_amount(), array( 'currency' => $order->get_currency() ) ) ), ENT_QUOTES );
		/* translators: %s: amount */
		$note = sprintf( __( 'A refund of %s is recorded here. Till moves no money.', 'till' ), $amount );
		$order->add_order_note( $note . ' ' . self::instruction( $gateway->client( true ), $id ) . ' ' . rtrim( $gateway->get_option( 'url' ), '/' ) . '/docs/guides/refunds' );
	}

	/** Says where the money is to be sent, as far as Till knows it. */
	private static function instruction( Till_Client $client, $id ) {
		try {
			$refunds = $client->refunds( $id );
		} catch ( Till_Problem $problem ) {
			$refunds = array();
		}
		foreach ( $refunds as $refund ) {
			$money = "{$refund['amount']} {$refund['tokenSymbol']} ({$refund['network']})";
			if ( 'requested' === $refund['status'] ) {
				/* translators: 1: amount, token and network, 2: address */
				return sprintf( __( 'Still to be sent from your wallet, as requested in Till: %1$s to %2$s.', 'till' ), $money, $refund['address'] );
			}
			if ( in_array( $refund['status'], array( 'sent', 'confirmed' ), true ) ) {
				/* translators: 1: amount, token and network, 2: address */
				return sprintf( __( 'In Till, %1$s were sent to %2$s. If that is this refund, nothing is left to do.', 'till' ), $money, $refund['address'] );
			}
		}
		return __( 'Send it from your wallet to an address that the customer names; it may not be the one that paid, which can belong to an exchange.', 'till' );
	}
}
