<?php
defined( 'ABSPATH' ) || exit;

/** Applies the states of invoices to orders, which Till_Store hands out and saves. */
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
	/** The invoice for which the order is on hold, until it is paid or over. */
	const HELD_FOR = '_till_held_for';
	/** The invoice that the order no longer waits for, once that was settled with Till. */
	const RELEASED = '_till_released';
	/** Events that were applied; a delivery may come twice. */
	const EVENTS = '_till_events';
	/** The number of events that are remembered; older ones have a lower version. */
	const EVENTS_MAX = 50;

	/** Records that an order is paid by an invoice. */
	public static function attach( WC_Order $order, array $invoice, $attempt ) {
		$known = array_map(
			static function ( $entry ) {
				return $entry->value;
			},
			$order->get_meta( self::INVOICES, false )
		);
		if ( ! in_array( $invoice['id'], $known, true ) ) {
			$order->add_meta_data( self::INVOICES, $invoice['id'] );
			/* translators: 1: reference of an invoice, 2: address of a page */
			$order->add_order_note( sprintf( __( 'Till invoice %1$s: %2$s', 'till' ), self::reference_of( $invoice ), $invoice['checkoutUrl'] ) );
			if ( Till_Money::is_rounded( $order ) ) {
				/* translators: 1: total of the order, 2: amount with currency */
				$order->add_order_note( sprintf( __( 'The total %1$s has more decimals than its currency: Till asks for %2$s.', 'till' ), $order->get_total(), "{$invoice['amount']} {$invoice['settlementCurrency']}" ) );
			}
		}
		$order->update_meta_data( self::CURRENT, $invoice['id'] );
		$order->update_meta_data( self::EXPIRES, (string) strtotime( $invoice['expiresAt'] ) );
		$order->update_meta_data( self::ATTEMPT, (string) $attempt );
	}

	/** Returns the reference that the payer quotes, such as `P7K2-9QXD`: it begins the public id. */
	public static function reference_of( array $invoice ) {
		$digits = strtoupper( str_replace( array( 'ipub_', '-' ), '', $invoice['publicId'] ) );
		return substr( $digits, 0, 4 ) . '-' . substr( $digits, 4, 4 );
	}

	/** Returns the status of an invoice that was applied last; empty without one. */
	public static function status_of( WC_Order $order, $id ) {
		$statuses = self::statuses( $order );
		return isset( $statuses[ $id ] ) ? $statuses[ $id ] : '';
	}

	/** Returns true if the order is to be paid by Till. */
	public static function is_by_till( WC_Order $order ) {
		return 'till' === $order->get_payment_method();
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
		$events[] = $event_id;
		$order->update_meta_data( self::EVENTS, implode( ' ', array_slice( $events, -self::EVENTS_MAX ) ) );
		if ( 0 === strpos( $event['type'], 'invoice.' ) ) {
			self::apply_invoice( $order, $event['data'], $event['type'] );
		} elseif ( self::advance( $order, $event['data'] ) ) {
			self::note_other( $order, $event['data'], $event['type'] );
		}
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

	private static function statuses( WC_Order $order ) {
		return (array) json_decode( (string) $order->get_meta( self::STATUSES ), true );
	}

	private static function remember_status( WC_Order $order, array $invoice ) {
		$statuses                   = self::statuses( $order );
		$statuses[ $invoice['id'] ] = $invoice['status'];
		$order->update_meta_data( self::STATUSES, wp_json_encode( $statuses ) );
	}

	/**
	 * Applies an invoice as it was read or delivered, unless a newer one was applied. Its status decides, and the type of
	 * the event only adds a note: after a failed delivery, the first event of a paid invoice may be a later one than
	 * `invoice.paid`.
	 */
	public static function apply_invoice( WC_Order $order, array $invoice, $type = '' ) {
		if ( ! self::advance( $order, $invoice ) ) {
			return;
		}
		$id   = $invoice['id'];
		$last = self::status_of( $order, $id );
		// Orders that an older version of the plugin completed have no statuses.
		if ( '' === $last && $order->is_paid() && $order->get_meta( self::PAID_BY ) === $id ) {
			$last = 'paid';
		}
		// First, because a change of the order's status saves the order.
		self::remember_status( $order, $invoice );
		if ( $last !== $invoice['status'] ) {
			self::leave( $order, $invoice, $last );
			self::enter( $order, $invoice );
		}
		self::note_event( $order, $invoice, $type, $last );
	}

	/** Records that the order no longer waits for its current invoice, as Till has it now: canceled, unless money came. */
	public static function release( WC_Order $order, array $invoice ) {
		$order->update_meta_data( self::RELEASED, $invoice['id'] );
		if ( 'canceled' !== $invoice['status'] ) {
			self::apply_invoice( $order, $invoice );
			if ( 'partially_paid' === $invoice['status'] ) {
				/* translators: 1: reference of an invoice, 2: amounts */
				$order->add_order_note( sprintf( __( 'The order no longer waits for invoice %1$s, which has received %2$s and stays open in Till: refund it, or complete the order.', 'till' ), self::reference_of( $invoice ), self::part_of( $invoice ) ) );
			}
		} elseif ( self::advance( $order, $invoice ) ) {
			self::remember_status( $order, $invoice );
			/* translators: %s: reference of an invoice */
			$order->add_order_note( sprintf( __( 'Invoice %s was canceled in Till: the order no longer waits for it.', 'till' ), self::reference_of( $invoice ) ) );
		}
	}

	/** Holds an order whose payment was taken back by a reorganization. */
	private static function leave( WC_Order $order, array $invoice, $last ) {
		if ( 'paid' === $last ) {
			$pays = $order->get_meta( self::PAID_BY ) === $invoice['id'];
			self::hold( $order, $invoice, $pays ? array( 'processing' ) : array(), self::taken_back() );
		}
	}

	/** Applies a new status of an invoice. Only `paid` means that the money is confirmed. */
	private static function enter( WC_Order $order, array $invoice ) {
		$part = self::part_of( $invoice );
		switch ( $invoice['status'] ) {
			case 'paid':
				self::pay( $order, $invoice );
				break;
			case 'confirming':
				$is_other = $order->is_paid() && $order->get_meta( self::PAID_BY ) !== $invoice['id'];
				if ( self::is_by_till( $order ) && ! $is_other ) {
					/* translators: %s: amounts */
					$note = sprintf( __( 'The payment was detected: %s. It waits for confirmations; do not ship yet.', 'till' ), $part );
					self::hold( $order, $invoice, array( 'pending', 'failed' ), $note );
				} else {
					/* translators: 1: amounts, 2: reference of an invoice */
					$order->add_order_note( sprintf( __( 'A payment was detected: %1$s for invoice %2$s, for which the order does not wait. A note follows when it is confirmed.', 'till' ), $part, self::reference_of( $invoice ) ) );
				}
				break;
			case 'expired':
				$note = 'underpaid' === $invoice['exception']
					/* translators: %s: amounts */
					? sprintf( __( 'The payment expired with only a part: %s. Refund it, or ask for a new payment.', 'till' ), $part )
					: __( 'The payment expired without money.', 'till' );
				self::fail( $order, $invoice, $note );
				break;
			case 'canceled':
				self::fail( $order, $invoice, __( 'The invoice was canceled in Till.', 'till' ) );
				break;
		}
	}

	/** Puts an order on hold until the invoice is paid or over. */
	private static function hold( WC_Order $order, array $invoice, array $from, $note ) {
		if ( $order->has_status( $from ) ) {
			$order->update_meta_data( self::HELD_FOR, $invoice['id'] );
		}
		self::move( $order, $from, 'on-hold', $note );
	}

	/** Fails an order that waits for this invoice; one that is paid by another method, or held by a person, does not. */
	private static function fail( WC_Order $order, array $invoice, $note ) {
		$waits = self::is_by_till( $order ) && $order->get_meta( self::CURRENT ) === $invoice['id'];
		$held  = $order->get_meta( self::HELD_FOR ) === $invoice['id'];
		$from  = $held ? array( 'pending', 'on-hold' ) : array( 'pending' );
		self::move( $order, $waits ? $from : array(), 'failed', $note );
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

	/** Completes an order, unless it is paid, or was canceled or changed in the meantime: then a person decides. */
	private static function pay( WC_Order $order, array $invoice ) {
		$id   = $invoice['id'];
		$hash = isset( $invoice['transactionHashes'][0] ) ? $invoice['transactionHashes'][0] : '';
		/* translators: 1: reference of an invoice, 2: amount, 3: symbol of a token */
		$paid = sprintf( __( 'Invoice %1$s is paid: %2$s %3$s.', 'till' ), self::reference_of( $invoice ), $invoice['paidTokenAmount'], $invoice['tokenSymbol'] );
		if ( $order->is_paid() ) {
			// The same invoice is paid again after the network took a payment back.
			if ( $order->get_meta( self::PAID_BY ) !== $id ) {
				$order->add_order_note( "$paid $hash " . __( 'The order was paid before: refund one of the payments.', 'till' ) );
			}
			return;
		}
		$objection = self::objection( $order, $invoice );
		$order->delete_meta_data( self::HELD_FOR );
		if ( self::is_by_till( $order ) ) {
			$order->update_meta_data( self::PAID_BY, $id );
		}
		if ( '' !== $objection ) {
			self::move( $order, array( 'pending', 'failed', 'cancelled' ), 'on-hold', "$paid $hash $objection" );
			return;
		}
		// WooCommerce shows the hash with the order.
		if ( ! $order->payment_complete( $hash ) || ! $order->is_paid() ) {
			throw self::unsaved();
		}
		$order->add_order_note( $paid );
	}

	/** Returns why a person has to decide about a paid order; empty if it can be completed. */
	private static function objection( WC_Order $order, array $invoice ) {
		if ( ! self::is_by_till( $order ) ) {
			/* translators: %s: title of a payment method */
			return sprintf( __( 'The order is to be paid by another method now (%s): make sure that it is paid once only, then complete it, or refund this payment.', 'till' ), $order->get_payment_method_title() );
		}
		if ( ! Till_Money::asks_for( $order, $invoice ) ) {
			return __( 'The order has another total now: check it, then complete or refund it.', 'till' );
		}
		if ( $order->has_status( array( 'cancelled', 'refunded' ) ) ) {
			return __( 'The order was canceled before: check the stock, then complete or refund it.', 'till' );
		}
		if ( ! $order->has_status( array( 'pending', 'on-hold', 'failed' ) ) ) {
			/* translators: %s: status of an order */
			return sprintf( __( 'The order has the status "%s": check it, then complete or refund it.', 'till' ), $order->get_status() );
		}
		return '';
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
		if ( ! $order->has_status( $from ) ) {
			$order->add_order_note( $note );
		} elseif ( ! $order->update_status( $to, $note ) ) {
			throw self::unsaved();
		}
	}

	/** The failure after which Till sends an event again. */
	private static function unsaved() {
		return new Till_Problem( 'not_saved', 'WooCommerce did not save the order.' );
	}
}
