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
	/** The status that was applied last, by invoice. */
	const STATUSES = '_till_statuses';
	/** The invoice that completed the order. */
	const PAID_BY = '_till_paid_by';
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
		$events = array_filter( explode( ' ', (string) $order->get_meta( self::EVENTS ) ) );
		if ( in_array( $event_id, $events, true ) ) {
			return;
		}
		if ( 0 === strpos( $event['type'], 'invoice.' ) ) {
			self::apply_invoice( $order, $event['data'], $event['type'] );
		} elseif ( self::advance( $order, $event['data'] ) ) {
			self::note_other( $order, $event['data'], $event['type'] );
		}
		$events[] = $event_id;
		$order->update_meta_data( self::EVENTS, implode( ' ', array_slice( $events, -self::EVENTS_MAX ) ) );
		$order->save();
	}

	/** Remembers the version of an object. Returns false if a newer one was applied. */
	private static function advance( WC_Order $order, array $data ) {
		$versions = (array) json_decode( (string) $order->get_meta( self::VERSIONS ), true );
		$version  = (int) $data['objectVersion'];
		if ( isset( $versions[ $data['id'] ] ) && $version < $versions[ $data['id'] ] ) {
			return false;
		}
		$versions[ $data['id'] ] = $version;
		$order->update_meta_data( self::VERSIONS, wp_json_encode( $versions ) );
		return true;
	}

	/**
	 * Applies an invoice as it was read or delivered, unless a newer one was applied; the caller saves the order. Its
	 * status decides, and the type of the event only adds a note: after a failed delivery, the first event of a paid
	 * invoice may be a later one than `invoice.paid`.
	 */
	public static function apply_invoice( WC_Order $order, array $invoice, $type = '' ) {
		if ( ! self::advance( $order, $invoice ) ) {
			return;
		}
		$id       = $invoice['id'];
		$statuses = (array) json_decode( (string) $order->get_meta( self::STATUSES ), true );
		// Orders that an older version of the plugin completed have no statuses.
		$by   = $order->is_paid() && $order->get_meta( self::PAID_BY ) === $id ? 'paid' : '';
		$last = isset( $statuses[ $id ] ) ? $statuses[ $id ] : $by;
		if ( $last !== $invoice['status'] ) {
			self::leave( $order, $id, $last );
			self::enter( $order, $invoice );
		}
		self::note_event( $order, $invoice, $type, $last );
		$statuses[ $id ] = $invoice['status'];
		$order->update_meta_data( self::STATUSES, wp_json_encode( $statuses ) );
	}

	/** Holds an order whose payment was taken back by a reorganization. */
	private static function leave( WC_Order $order, $id, $last ) {
		if ( 'paid' === $last ) {
			$pays = $order->get_meta( self::PAID_BY ) === $id;
			self::move( $order, $pays ? array( 'processing' ) : array(), 'on-hold', self::taken_back() );
		}
	}

	/** Applies a new status of an invoice. Only `paid` means that the money is confirmed. */
	private static function enter( WC_Order $order, array $invoice ) {
		$part = self::part_of( $invoice );
		$open = $order->get_meta( self::CURRENT ) === $invoice['id'] ? array( 'pending', 'on-hold' ) : array();
		switch ( $invoice['status'] ) {
			case 'paid':
				self::pay( $order, $invoice );
				break;
			case 'confirming':
				/* translators: %s: amounts */
				$note = sprintf( __( 'The payment was detected: %s. It waits for confirmations; do not ship yet.', 'till' ), $part );
				self::move( $order, array( 'pending', 'failed' ), 'on-hold', $note );
				break;
			case 'expired':
				$note = 'underpaid' === $invoice['exception']
					/* translators: %s: amounts */
					? sprintf( __( 'The payment expired with only a part: %s. Refund it, or ask for a new payment.', 'till' ), $part )
					: __( 'The payment expired without money.', 'till' );
				self::move( $order, $open, 'failed', $note );
				break;
			case 'canceled':
				self::move( $order, $open, 'failed', __( 'The invoice was canceled in Till.', 'till' ) );
				break;
		}
	}

	/** Adds what the status does not say. */
	private static function note_event( WC_Order $order, array $invoice, $type, $last ) {
		$part = self::part_of( $invoice );
		switch ( $type ) {
			case 'invoice.partially_paid':
			case 'invoice.payment_detected':
				if ( 'paid' !== $invoice['status'] ) {
					/* translators: %s: amounts */
					$order->add_order_note( sprintf( __( 'Part of the payment has arrived: %s. Do not ship yet.', 'till' ), $part ) );
				}
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
				if ( 'paid' === $invoice['status'] ) {
					$order->add_order_note( __( 'The network took a payment back; the others still pay the invoice.', 'till' ) );
				} elseif ( 'paid' !== $last ) {
					$order->add_order_note( self::taken_back() );
				}
				break;
		}
	}

	private static function taken_back() {
		return __( 'The network took a payment back. Do not ship until it is paid again.', 'till' );
	}

	private static function part_of( array $invoice ) {
		return "{$invoice['paidTokenAmount']} / {$invoice['payableAmount']} {$invoice['tokenSymbol']}";
	}

	/** Completes an order, unless it was paid, canceled or changed in the meantime: then a person decides. */
	private static function pay( WC_Order $order, array $invoice ) {
		$hash = isset( $invoice['transactionHashes'][0] ) ? $invoice['transactionHashes'][0] : '';
		/* translators: 1: reference of an invoice, 2: amount, 3: symbol of a token, 4: hash of a transaction */
		$paid = sprintf( __( 'Invoice %1$s is paid: %2$s %3$s. %4$s', 'till' ), $invoice['publicId'], $invoice['paidTokenAmount'], $invoice['tokenSymbol'], $hash );
		if ( $order->is_paid() ) {
			// The same invoice is paid again after the network took a payment back, or refreshed by the customer's page.
			if ( $order->get_meta( self::PAID_BY ) !== $invoice['id'] ) {
				$order->add_order_note( $paid . ' ' . __( 'The order was paid before: refund one of the payments.', 'till' ) );
			}
			return;
		}
		$order->update_meta_data( self::PAID_BY, $invoice['id'] );
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
			'refund.requested'     => empty( $data['isToSender'] )
				/* translators: 1: amount, 2: address */
				? __( 'A refund of %1$s was requested, to %2$s, which is not the address that sent the payment. Ask the customer whether it is theirs before you send anything.', 'till' )
				/* translators: 1: amount, 2: address */
				: __( 'A refund of %1$s was requested, to %2$s, the address that sent the payment. If that is the address of an exchange, ask the customer for another one.', 'till' ),
			'refund.sent'          => __( 'A refund of %s was sent; Till verifies it.', 'till' ),
			'refund.confirmed'     => __( 'The refund of %s is final. Record it here with "Refund manually".', 'till' ),
			'refund.rejected'      => __( 'The refund of %s was rejected.', 'till' ),
			'refund.reverted'      => __( 'The transaction named for the refund of %s does not prove it: see Till before you send again.', 'till' ),
		);
		if ( isset( $notes[ $type ] ) ) {
			$order->add_order_note( sprintf( $notes[ $type ], $amount, isset( $data['address'] ) ? $data['address'] : '' ) );
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
