<?php
/**
 * A must-use plug-in of the proof's shops: it writes e-mails to a file instead of sending them, and lets the proof read
 * and change what is not its subject, by POST /prove-control/ with the name of a function below and its arguments.
 */
defined( 'ABSPATH' ) || exit;

add_filter( 'pre_wp_mail', '__return_true' );
add_action(
	'woocommerce_email_sent',
	static function ( $is_sent, $kind, $mail ) {
		$order = $mail->object instanceof WC_Order ? $mail->object->get_id() : 0;
		$line  = wp_json_encode( array( 'kind' => $kind, 'order' => $order ) );
		file_put_contents( WP_CONTENT_DIR . '/mails.jsonl', "$line\n", FILE_APPEND | LOCK_EX );
	},
	10,
	3
);

// WooCommerce celebrates some orders with an overlay over the order's page.
add_filter( 'wc_order_milestone_egg_enabled', '__return_false' );

// WordPress complains in the log if nobody tells it that there are no updates, and what the plug-in is that Till requires.
add_filter(
	'pre_http_request',
	static function ( $answer, $arguments, $url ) {
		if ( 'api.wordpress.org' !== wp_parse_url( $url, PHP_URL_HOST ) ) {
			return $answer;
		}
		return array(
			'headers'  => array(),
			'body'     => '{"name":"WooCommerce","slug":"woocommerce","offers":[],"plugins":[],"no_update":[],"themes":[],"translations":[]}',
			'response' => array( 'code' => 200, 'message' => 'OK' ),
			'cookies'  => array(),
			'filename' => null,
		);
	},
	10,
	3
);

add_action(
	'wp_loaded',
	static function () {
		if ( '/prove-control/' !== strtok( $_SERVER['REQUEST_URI'], '?' ) || 'POST' !== $_SERVER['REQUEST_METHOD'] ) {
			return;
		}
		$asked = json_decode( (string) file_get_contents( 'php://input' ), true );
		try {
			$answer = array( 'result' => call_user_func( array( 'Prove_Control', $asked['do'] ), ...$asked['with'] ) );
		} catch ( Throwable $failure ) {
			$answer = array( 'failure' => (string) $failure );
		}
		wp_send_json( $answer );
	}
);

final class Prove_Control {
	public static function versions() {
		return array( 'wordpress' => $GLOBALS['wp_version'], 'woocommerce' => WC()->version, 'php' => PHP_VERSION, 'theme' => get_stylesheet() );
	}

	/** Chooses the storage of orders, before the first one. */
	public static function storage( $is_hpos ) {
		if ( $is_hpos ) {
			wc_get_container()->get( \Automattic\WooCommerce\Internal\DataStores\Orders\DataSynchronizer::class )->create_database_tables();
		}
		update_option( 'woocommerce_custom_orders_table_data_sync_enabled', 'no' );
		update_option( 'woocommerce_custom_orders_table_enabled', $is_hpos ? 'yes' : 'no' );
		return true;
	}

	public static function is_hpos() {
		return \Automattic\WooCommerce\Utilities\OrderUtil::custom_orders_table_usage_is_enabled();
	}

	public static function option( $name, $value ) {
		return update_option( $name, $value );
	}

	public static function read_option( $name ) {
		return get_option( $name, null );
	}

	/** Changes some settings of the plug-in. */
	public static function settings( $changes ) {
		return update_option( 'woocommerce_till_settings', array_merge( (array) get_option( 'woocommerce_till_settings', array() ), $changes ) );
	}

	public static function activate( $is_active ) {
		require_once ABSPATH . 'wp-admin/includes/plugin.php';
		if ( $is_active ) {
			$problem = activate_plugin( 'till/till.php' );
			return is_wp_error( $problem ) ? $problem->get_error_message() : true;
		}
		deactivate_plugins( 'till/till.php' );
		return true;
	}

	/** Deletes the plug-in as the list of plug-ins does. */
	public static function remove_plugin() {
		require_once ABSPATH . 'wp-admin/includes/plugin.php';
		require_once ABSPATH . 'wp-admin/includes/file.php';
		deactivate_plugins( 'till/till.php' );
		$result = delete_plugins( array( 'till/till.php' ) );
		if ( true !== $result ) {
			throw new Exception( is_wp_error( $result ) ? $result->get_error_message() : 'the plug-in was not deleted' );
		}
		return true;
	}

	public static function needs_setup() {
		return WC()->payment_gateways()->payment_gateways()['till']->needs_setup();
	}

	/** Chooses the kind of the checkout page. */
	public static function checkout( $kind ) {
		$page = get_page_by_path( "checkout-$kind" );
		update_option( 'woocommerce_checkout_page_id', $page->ID );
		flush_rewrite_rules();
		return get_permalink( $page );
	}

	public static function stock() {
		return (int) self::product()->get_stock_quantity();
	}

	public static function product_id() {
		return self::product()->get_id();
	}

	/** Creates an unpaid order, as an employee of the shop does; returns its id and the address at which it is paid. */
	public static function create_order( $quantity, $currency, $total ) {
		$order = wc_create_order();
		$order->set_currency( $currency );
		$order->add_product( self::product(), $quantity, null === $total ? array() : array( 'subtotal' => $total, 'total' => $total ) );
		$order->set_address(
			array(
				'first_name' => 'Mia',
				'last_name'  => 'Payer',
				'address_1'  => '1 Main Street',
				'city'       => 'Sacramento',
				'state'      => 'CA',
				'postcode'   => '95814',
				'country'    => 'US',
				'email'      => 'mia@example.com',
				'phone'      => '5550100',
			),
			'billing'
		);
		$order->calculate_totals();
		$order->save();
		return array( 'id' => $order->get_id(), 'payUrl' => $order->get_checkout_payment_url() );
	}

	public static function order( $id ) {
		$order = wc_get_order( $id );
		$notes = wc_get_order_notes( array( 'order_id' => $id, 'orderby' => 'date_created_gmt', 'order' => 'ASC' ) );
		return array(
			'status'        => $order->get_status(),
			'total'         => $order->get_total(),
			'currency'      => $order->get_currency(),
			'method'        => $order->get_payment_method(),
			'transaction'   => $order->get_transaction_id(),
			'refunded'      => $order->get_total_refunded(),
			'receivedUrl'   => $order->get_checkout_order_received_url(),
			'payUrl'        => $order->get_checkout_payment_url(),
			'editUrl'       => $order->get_edit_order_url(),
			'notes'         => array_map( static function ( $note ) { return $note->content; }, $notes ),
		);
	}

	/** The texts of an order's metadata whose names begin with `_till_`. */
	public static function meta( $id ) {
		$found = array();
		foreach ( wc_get_order( $id )->get_meta_data() as $one ) {
			if ( 0 === strpos( $one->key, '_till_' ) ) {
				$found[ $one->key ][] = $one->value;
			}
		}
		return $found;
	}

	public static function newest_order() {
		$found = wc_get_orders( array( 'limit' => 1, 'orderby' => 'ID', 'order' => 'DESC', 'return' => 'ids' ) );
		return isset( $found[0] ) ? $found[0] : 0;
	}

	public static function status( $id, $status ) {
		return wc_get_order( $id )->update_status( $status );
	}

	public static function method( $id, $method ) {
		$order = wc_get_order( $id );
		$order->set_payment_method( WC()->payment_gateways()->payment_gateways()[ $method ] );
		$order->save();
		return true;
	}

	public static function add_to_order( $id, $quantity ) {
		$order = wc_get_order( $id );
		$order->add_product( self::product(), $quantity );
		$order->calculate_totals();
		return $order->get_total();
	}

	private static function product() {
		$found = wc_get_products( array( 'limit' => 1, 'name' => 'Green tea' ) );
		return $found[0];
	}
}
