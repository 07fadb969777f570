<?php
defined( 'ABSPATH' ) || exit;

use Automattic\WooCommerce\Caches\OrderCache;

/** The shop's orders: finds them by their invoices, and is the only place that changes them. */
class Till_Store {
	/** @var array<int,WC_Order> The orders that this process is changing. */
	private static $open = array();

	/** Returns the id of the order that an invoice belongs to, or null. Of copies that other plug-ins make, it is the oldest. */
	public static function find( $invoice_id ) {
		$ids = wc_get_orders(
			array(
				'limit'      => 1,
				'orderby'    => 'ID',
				'order'      => 'ASC',
				'return'     => 'ids',
				'type'       => 'shop_order',
				// Money may also come for an order in the trash.
				'status'     => array_merge( array_keys( wc_get_order_statuses() ), array( 'trash' ) ),
				'meta_key'   => Till_Order::INVOICES,
				'meta_value' => $invoice_id,
			)
		);
		return isset( $ids[0] ) ? (int) $ids[0] : null;
	}

	/** Returns the id of the invoice that the order waits for, or waited for last; empty without one, and for a copy of an order. */
	public static function current( WC_Order $order ) {
		$id = (string) $order->get_meta( Till_Order::CURRENT );
		return '' !== $id && self::find( $id ) === $order->get_id() ? $id : '';
	}

	/**
	 * Calls a function with the order as it is in the database, and saves the changes that it makes. Only one process at
	 * a time changes an order; the others wait.
	 *
	 * @param int      $order_id The order's id.
	 * @param callable $apply    Gets the order; its result is returned, or null if there is no such order.
	 * @throws Till_Problem `busy` if other processes were changing the order all the time.
	 */
	public static function change( $order_id, callable $apply ) {
		$order_id = (int) $order_id;
		// A function that WooCommerce calls on a change may change the order further.
		if ( isset( self::$open[ $order_id ] ) ) {
			return $apply( self::$open[ $order_id ] );
		}
		return Till_Lock::hold(
			"till_lock_$order_id",
			static function () use ( $order_id, $apply ) {
				$order = self::read( $order_id );
				if ( null === $order ) {
					return null;
				}
				self::$open[ $order_id ] = $order;
				try {
					$result = $apply( $order );
					if ( self::is_changed( $order ) ) {
						$order->save();
					}
					return $result;
				} finally {
					unset( self::$open[ $order_id ] );
				}
			}
		);
	}

	/**
	 * Keeps WooCommerce from copying an old post over an order that is being changed. With both storages in sync, older
	 * versions do that in any process that reads the order after its row was saved, and before its post was, in one second.
	 */
	public static function may_sync( $may ) {
		return $may && ! Till_Lock::is_any_held();
	}

	/** Returns the order without use of any cache: another process may have saved it since this one filled them. */
	private static function read( $order_id ) {
		wp_cache_delete( $order_id, 'posts' );
		wp_cache_delete( $order_id, 'post_meta' );
		wp_cache_delete( "order-items-$order_id", 'orders' );
		wp_cache_delete( WC_Order::generate_meta_cache_key( $order_id, 'orders' ), 'orders' );
		wc_get_container()->get( OrderCache::class )->remove( $order_id );
		$store = WC_Data_Store::load( 'order' );
		if ( $store->has_callable( 'clear_cached_data' ) ) {
			$store->clear_cached_data( array( $order_id ) );
		}
		$order = wc_get_order( $order_id );
		return $order instanceof WC_Order ? $order : null;
	}

	/**
	 * Tells whether something is left to save. An order that payment_complete() has saved must not be saved again: other
	 * functions have written to it meanwhile, such as that its stock was reduced, and a copy in the posts table would
	 * lose that.
	 */
	private static function is_changed( WC_Order $order ) {
		foreach ( $order->get_meta_data() as $entry ) {
			if ( empty( $entry->id ) || array() !== $entry->get_changes() ) {
				return true;
			}
		}
		return array() !== $order->get_changes();
	}
}
