<?php
/**
 * Runs the WooCommerce plugin without WordPress: the functions and classes that it calls keep orders and options in a
 * JSON file. Requests to Till are real. Usage: php shop.php PLUGIN STATE < COMMANDS, a JSON list; prints the answers.
 */
error_reporting( E_ALL );
ini_set( 'display_errors', 'stderr' );
set_error_handler(
	static function ( $severity, $message, $file, $line ) {
		if ( 0 === ( error_reporting() & $severity ) ) {
			return false;
		}
		throw new ErrorException( $message, 0, $severity, $file, $line );
	}
);
define( 'ABSPATH', __DIR__ );
[ , $plugin, $state_file ] = $argv;
$state   = json_decode( (string) @file_get_contents( $state_file ), true ) ?: array( 'options' => array(), 'orders' => array() );
$hooks   = array();
$notices = array();

function add_action( $name, $call ) { $GLOBALS['hooks'][ $name ][] = $call; }
function add_filter( $name, $call ) { $GLOBALS['hooks'][ $name ][] = $call; }
function apply_filters( $name, $value, ...$more ) {
	foreach ( $GLOBALS['hooks'][ $name ] ?? array() as $call ) {
		$value = $call( $value, ...$more );
	}
	return $value;
}
function do_action( $name, ...$more ) {
	foreach ( $GLOBALS['hooks'][ $name ] ?? array() as $call ) {
		is_array( $call ) ? call_user_func_array( $call, $more ) : $call( ...$more );
	}
}
function __( $text ) { return $text; }
function home_url( $path = '' ) { return 'https://shop.example' . $path; }
function plugins_url( $path ) { return 'https://shop.example/plugins/' . $path; }
function wp_register_script( $handle, $url, $needs ) { $GLOBALS['scripts'][ $handle ] = $needs; }
function wp_json_encode( $value ) { return json_encode( $value ); }
function wp_unslash( $value ) { return $value; }
function wp_generate_password() { return bin2hex( random_bytes( 6 ) ); }
function get_option( $name, $default = false ) { return $GLOBALS['state']['options'][ $name ] ?? $default; }
function wc_get_price_decimals() { return 2; }
function wc_format_decimal( $value, $decimals ) { return number_format( (float) $value, $decimals, '.', '' ); }
function wc_add_notice( $text ) { $GLOBALS['notices'][] = $text; }
function wc_get_logger() {
	return new class() {
		public function error( $text ) { fwrite( STDERR, "log: $text\n" ); }
	};
}
function wc_get_order( $id ) { return isset( $GLOBALS['state']['orders'][ $id ] ) ? new WC_Order( $id ) : false; }
function wc_get_orders( array $query ) {
	$found = array();
	foreach ( array_keys( $GLOBALS['state']['orders'] ) as $id ) {
		$order  = new WC_Order( $id );
		$values = array_column( $order->get_meta( $query['meta_key'], false ), 'value' );
		if ( in_array( $query['meta_value'], $values, true ) ) {
			$found[] = $order;
		}
	}
	return array_slice( $found, 0, $query['limit'] );
}
function is_wp_error( $value ) { return $value instanceof WP_Error; }
function wp_remote_retrieve_response_code( $response ) { return $response['status']; }
function wp_remote_retrieve_body( $response ) { return $response['body']; }
function wp_remote_request( $url, array $arguments ) {
	$lines = array();
	foreach ( $arguments['headers'] as $name => $value ) {
		$lines[] = "$name: $value";
	}
	$options = array(
		'method'          => $arguments['method'],
		'header'          => $lines,
		'content'         => $arguments['body'] ?? '',
		'timeout'         => $arguments['timeout'],
		'follow_location' => $arguments['redirection'] > 0,
		'ignore_errors'   => true,
	);
	$body = @file_get_contents( $url, false, stream_context_create( array( 'http' => $options ) ) );
	if ( false === $body ) {
		return new WP_Error();
	}
	preg_match( '/ (\d{3})/', $http_response_header[0], $status );
	return array( 'status' => (int) $status[1], 'body' => $body );
}

class WP_Error {
	public function get_error_message() { return 'no connection'; }
}

/** The queries of the lock, by their verbs. */
class Wpdb_Options {
	public $options = 'wp_options';
	public function prepare( $query, ...$values ) { return array( $query, $values ); }
	public function get_var( $query ) { return get_option( $query[1][0], null ); }
	public function query( $query ) {
		[ $text, $values ] = $query;
		$options           = &$GLOBALS['state']['options'];
		if ( 0 === strpos( $text, 'INSERT' ) ) {
			$is_new = ! isset( $options[ $values[0] ] );
			if ( $is_new ) {
				$options[ $values[0] ] = $values[1];
			}
			return (int) $is_new;
		}
		if ( 0 === strpos( $text, 'UPDATE' ) ) {
			$is_held = ( $options[ $values[1] ] ?? null ) === $values[2];
			if ( $is_held ) {
				$options[ $values[1] ] = $values[0];
			}
			return (int) $is_held;
		}
		unset( $options[ $values[0] ] );
		return 1;
	}
}
$wpdb = new Wpdb_Options();

/** An order as WooCommerce's CRUD shows it: changes are stored by save(). */
class WC_Order {
	private $id;
	private $data;
	public function __construct( $id ) {
		$this->id   = $id;
		$this->data = $GLOBALS['state']['orders'][ $id ];
	}
	public function get_id() { return (int) $this->id; }
	public function get_order_number() { return (string) $this->id; }
	public function get_order_key() { return 'wc_order_' . $this->id; }
	public function get_total() { return $this->data['total']; }
	public function get_currency() { return $this->data['currency']; }
	public function get_payment_method() { return 'till'; }
	public function get_meta( $key, $single = true ) {
		$found = array();
		foreach ( $this->data['meta'] as $entry ) {
			if ( $entry['key'] === $key ) {
				$found[] = (object) $entry;
			}
		}
		return $single ? ( $found[0]->value ?? '' ) : $found;
	}
	public function add_meta_data( $key, $value ) { $this->data['meta'][] = compact( 'key', 'value' ); }
	public function update_meta_data( $key, $value ) {
		$this->data['meta'] = array_values( array_filter( $this->data['meta'], fn( $entry ) => $entry['key'] !== $key ) );
		$this->add_meta_data( $key, $value );
	}
	public function add_order_note( $text ) {
		$this->data['notes'][]                                = $text;
		$GLOBALS['state']['orders'][ $this->id ]['notes'][] = $text;
	}
	public function has_status( $status ) { return in_array( $this->data['status'], (array) $status, true ); }
	public function is_paid() { return $this->has_status( array( 'processing', 'completed' ) ); }
	public function update_status( $status, $note = '' ) {
		$this->data['status'] = $status;
		$this->add_order_note( $note );
		$this->save();
	}
	public function payment_complete( $transaction ) {
		if ( ! $this->has_status( array( 'on-hold', 'pending', 'failed', 'cancelled' ) ) ) {
			return false;
		}
		$this->data['transaction'] = $transaction;
		$this->data['status']      = 'processing';
		$this->save();
		return true;
	}
	public function save() { $GLOBALS['state']['orders'][ $this->id ] = $this->data; }
}

abstract class WC_Payment_Gateway {
	public $id, $method_title, $method_description, $has_fields, $supports, $title, $description, $form_fields, $settings;
	public function init_settings() {
		$this->settings = get_option( 'woocommerce_till_settings', array() );
	}
	public function get_option( $name ) { return $this->settings[ $name ] ?? $this->form_fields[ $name ]['default']; }
	public function is_available() { return 'yes' === $this->get_option( 'enabled' ); }
	public function process_admin_options() {}
	public function get_return_url( $order ) { return home_url( '/thanks?order=' . $order->get_id() ); }
}

/** WC() with the gateways that the plugin registered. */
class WC_Stub {
	public function payment_gateways() { return $this->gateways ??= new WC_Gateways_Stub(); }
	public $gateways;
}
class WC_Gateways_Stub {
	private $all;
	public function payment_gateways() {
		if ( null === $this->all ) {
			foreach ( apply_filters( 'woocommerce_payment_gateways', array() ) as $class ) {
				$gateway                   = new $class();
				$this->all[ $gateway->id ] = $gateway;
			}
		}
		return $this->all;
	}
}
function WC() { static $wc; return $wc ??= new WC_Stub(); }

eval( 'namespace Automattic\WooCommerce\Utilities; class FeaturesUtil { public static $declared = array(); public static function declare_compatibility( $feature, $file, $is ) { self::$declared[ $feature ] = $is; } }' );
eval( 'namespace Automattic\WooCommerce\Blocks\Payments\Integrations; abstract class AbstractPaymentMethodType { protected $name, $settings; public function get_name() { return $this->name; } protected function get_setting( $name ) { return $this->settings[ $name ] ?? ""; } }' );

require $plugin;
do_action( 'before_woocommerce_init' );
do_action( 'plugins_loaded' );

$answers = array();
foreach ( json_decode( stream_get_contents( STDIN ), true ) as $command ) {
	$gateway = WC()->payment_gateways()->payment_gateways()['till'];
	$id      = $command['order'] ?? '';
	switch ( $command['do'] ) {
		case 'set up':
			$state['options'][ $command['option'] ?? 'woocommerce_till_settings' ] = $command['value'] ?? $command['settings'];
			$gateway->init_settings();
			$answers[] = null;
			break;
		case 'order':
			$state['orders'][ $id ] = array_merge(
				array( 'status' => 'pending', 'meta' => array(), 'notes' => array() ),
				$state['orders'][ $id ] ?? array(),
				$command['data']
			);
			$answers[] = null;
			break;
		case 'pay':
			$answers[] = $gateway->process_payment( $id ) + array( 'notices' => $notices );
			break;
		case 'return':
			do_action( 'woocommerce_thankyou_till', $id );
			$answers[] = null;
			break;
		case 'deliver':
			$answers[] = Till_Receiver::answer( $command['body'], $command['id'] ?? '', $command['timestamp'] ?? '', $command['signature'] ?? '' );
			break;
		case 'may cancel':
			$answers[] = apply_filters( 'woocommerce_cancel_unpaid_order', true, wc_get_order( $id ) );
			break;
		case 'block':
			$registry = new class() {
				public $type;
				public function register( $type ) { $this->type = $type; }
			};
			do_action( 'woocommerce_blocks_payment_method_type_registration', $registry );
			$registry->type->initialize();
			$answers[] = array(
				'name'     => $registry->type->get_name(),
				'isActive' => $registry->type->is_active(),
				'handles'  => $registry->type->get_payment_method_script_handles(),
				'data'     => $registry->type->get_payment_method_data(),
				'declared' => \Automattic\WooCommerce\Utilities\FeaturesUtil::$declared,
			);
			break;
		case 'look':
			$answers[] = $state['orders'][ $id ];
			break;
	}
}
file_put_contents( $state_file, json_encode( $state ) );
echo json_encode( $answers );
