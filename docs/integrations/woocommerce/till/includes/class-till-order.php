<?php
defined( 'ABSPATH' ) || exit;

/** Applies the states of invoices to orders. */
class Till_Order {
	/** An invoice of the order; one entry for each. */
	const INVOICES = '_till_invoice_id';
	/** The invoice that the customer is sent to. */
	const CURRENT = '_till_current_invoice';
	/** The deadline of the current invoice, in epoch seconds. */
	const EXPIRES = '_till_expires_at';
	/** The number of the current invoice, from 1. */
	const ATTEMPT = '_till_attempt';
	/** The highest version that was applied, by invoice, refund or payment. */
	const VERSIONS = '_till_versions';
	/** Events that were applied; a delivery may come twice. */
	const EVENTS = '_till_events';
	/** The number of events that are remembered; older ones have a lower version. */
	const EVENTS_MAX = 50;

	/** Returns the order that an invoice belongs to, or null. */
	public static function find( $invoice_id ) {
		$orders = wc_get_orders(
			array(
				'limit'      => 1,
				'meta_key'   => self::INVOICES,
				'meta_value' => $invoice_id,
			)
		);
		return isset( $orders[0] ) ? $orders[0] : null;
	}

	/** Records that an order is paid by an invoice. */
	public static function attach( WC_Order $order, array $invoice, $attempt ) {
		$known = array_map( array( __CLASS__, 'value_of' ), $order->get_meta( self::INVOICES, false ) );
		if ( ! in_array( $invoice['id'], $known, true ) ) {
			$order->add_meta_data( self::INVOICES, $invoice['id'] );
			/* translators: 1: reference of an invoice, 2: address of a page */
			$order->add_order_note( sprintf( __( 'Till invoice %1$s: %2$s', 'till' ), $invoice['publicId'], $invoice['checkoutUrl'] ) );
		}
		$order->update_meta_data( self::CURRENT, $invoice['id'] );
		$order->update_meta_data( self::EXPIRES, (string) strtotime( $invoice['expiresAt'] ) );
		$order->update_meta_data( self::ATTEMPT, (string) $attempt );
		$order->save();
	}

	private static function value_of( $entry ) {
		return is_object( $entry ) ? $entry->value : $entry;
	}

	/**
	 * Applies an event once. Events of one change have the same version; older versions are skipped, because deliveries
	 * may arrive in any order.
	 */
	public static function apply_event( WC_Order $order, $event_id, array $event ) {
		$data   = $event['data'];
		$events = array_filter( explode( ' ', (string) $order->get_meta( self::EVENTS ) ) );
		if ( in_array( $event_id, $events, true ) ) {
			return;
		}
		$versions = (array) json_decode( (string) $order->get_meta( self::VERSIONS ), true );
		$version  = (int) $data['objectVersion'];
		$is_old   = isset( $versions[ $data['id'] ] ) && $version < $versions[ $data['id'] ];
		if ( ! $is_old ) {
			if ( 0 === strpos( $event['type'], 'invoice.' ) ) {
				self::apply_invoice( $order, $data, $event['type'] );
			} else {
				self::note_other( $order, $data, $event['type'] );
			}
			$versions[ $data['id'] ] = $version;
		}
		$events[] = $event_id;
		$order->update_meta_data( self::VERSIONS, wp_json_encode( $versions ) );
		$order->update_meta_data( self::EVENTS, implode( ' ', array_slice( $events, -self::EVENTS_MAX ) ) );
		$order->save();
	}

	/** Applies the state of an invoice. Only `invoice.paid` means that the money is confirmed. */
	public static function apply_invoice( WC_Order $order, array $invoice, $type ) {
		$is_current = $order->get_meta( self::CURRENT ) === $invoice['id'];
		$part       = "{$invoice['paidTokenAmount']} / {$invoice['payableAmount']} {$invoice['tokenSymbol']}";
		switch ( $type ) {
			case 'invoice.partially_paid':
			case 'invoice.payment_detected':
				/* translators: %s: amounts */
				$order->add_order_note( sprintf( __( 'Part of the payment has arrived: %s. Do not ship yet.', 'till' ), $part ) );
				break;
			case 'invoice.confirming':
				/* translators: %s: amounts */
				$note = sprintf( __( 'The payment was detected: %s. It waits for confirmations; do not ship yet.', 'till' ), $part );
				self::move( $order, array( 'pending', 'failed' ), 'on-hold', $note );
				break;
			case 'invoice.paid':
				self::pay( $order, $invoice );
				break;
			case 'invoice.overpaid':
				/* translators: %s: amounts */
				$order->add_order_note( sprintf( __( 'Overpaid: %s. The customer can ask for a refund of the difference on the payment page.', 'till' ), $part ) );
				break;
			case 'invoice.underpaid':
				/* translators: %s: amounts */
				$order->add_order_note( sprintf( __( 'Paid with less than asked, within your tolerance: %s.', 'till' ), $part ) );
				break;
			case 'invoice.paid_late':
				$order->add_order_note( __( 'Paid after the deadline.', 'till' ) );
				break;
			case 'invoice.reverted':
				$note = __( 'The network took a payment back. Do not ship until it is paid again.', 'till' );
				self::move( $order, array( 'processing' ), 'on-hold', $note );
				break;
			case 'invoice.expired':
				$note = 'underpaid' === $invoice['exception']
					/* translators: %s: amounts */
					? sprintf( __( 'The payment expired with only a part: %s. Refund it, or ask for a new payment.', 'till' ), $part )
					: __( 'The payment expired without money.', 'till' );
				self::move( $order, $is_current ? array( 'pending', 'on-hold' ) : array(), 'failed', $note );
				break;
			case 'invoice.canceled':
				$note = __( 'The invoice was canceled in Till.', 'till' );
				self::move( $order, $is_current ? array( 'pending', 'on-hold' ) : array(), 'failed', $note );
				break;
		}
	}

	/** Completes an order, unless it was paid, canceled or changed in the meantime: then a person decides. */
	private static function pay( WC_Order $order, array $invoice ) {
		$hash = isset( $invoice['transactionHashes'][0] ) ? $invoice['transactionHashes'][0] : '';
		/* translators: 1: reference of an invoice, 2: amount, 3: symbol of a token, 4: hash of a transaction */
		$paid = sprintf( __( 'Invoice %1$s is paid: %2$s %3$s. %4$s', 'till' ), $invoice['publicId'], $invoice['paidTokenAmount'], $invoice['tokenSymbol'], $hash );
		if ( $order->is_paid() ) {
			// The same invoice is paid again after the network took a payment back, or refreshed by the customer's page.
			if ( $order->get_meta( '_till_paid_by' ) !== $invoice['id'] ) {
				$order->add_order_note( $paid . ' ' . __( 'The order was paid before: refund one of the payments.', 'till' ) );
			}
			return;
		}
		$order->update_meta_data( '_till_paid_by', $invoice['id'] );
		if ( ! self::asks_for( $order, $invoice ) ) {
			$note = $paid . ' ' . __( 'The order has another total now: check it, then complete or refund it.', 'till' );
			self::move( $order, array( 'pending', 'failed', 'cancelled' ), 'on-hold', $note );
		} elseif ( $order->has_status( array( 'cancelled', 'refunded' ) ) ) {
			$note = $paid . ' ' . __( 'The order was canceled before: check the stock, then complete or refund it.', 'till' );
			self::move( $order, array( 'cancelled' ), 'on-hold', $note );
		} else {
			$order->add_order_note( $paid );
			$order->payment_complete( $hash );
		}
	}

	/** Returns true if an invoice is about the order's total. */
	public static function asks_for( WC_Order $order, array $invoice ) {
		return $order->get_currency() === $invoice['settlementCurrency']
			&& self::amount_of( $order ) === wc_format_decimal( $invoice['amount'], wc_get_price_decimals() );
	}

	/** Returns the order's total as text: with the currency's number of decimals, and a point. */
	public static function amount_of( WC_Order $order ) {
		return wc_format_decimal( $order->get_total(), wc_get_price_decimals() );
	}

	private static function note_other( WC_Order $order, array $data, $type ) {
		$amount = isset( $data['amount'] ) ? "{$data['amount']} {$data['tokenSymbol']}" : '';
		$notes  = array(
			/* translators: %s: amount */
			'payment.needs_review' => __( 'A payment of %s waits for your decision in Till.', 'till' ),
			'payment.rejected'     => __( 'A payment of %s was rejected and does not count.', 'till' ),
			'refund.requested'     => __( 'A refund of %s was requested. Compare the recipient with the sender in Till before you send anything.', 'till' ),
			'refund.sent'          => __( 'A refund of %s was sent; Till verifies it.', 'till' ),
			'refund.confirmed'     => __( 'The refund of %s is final. Record it here with "Refund manually".', 'till' ),
			'refund.rejected'      => __( 'The refund of %s was rejected.', 'till' ),
			'refund.reverted'      => __( 'The transaction named for the refund of %s does not prove it: see Till before you send again.', 'till' ),
		);
		if ( isset( $notes[ $type ] ) ) {
			$order->add_order_note( sprintf( $notes[ $type ], $amount ) );
		}
	}

	/** Changes the status if it is one of these; adds the note in any case. */
	private static function move( WC_Order $order, array $from, $to, $note ) {
		if ( $order->has_status( $from ) ) {
			$order->update_status( $to, $note );
		} else {
			$order->add_order_note( $note );
		}
	}
}
