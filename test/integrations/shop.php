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
$hooks   = array();
$notices = array();
$cached  = array();
$page    = '';

/** Reads and changes the state, one process at a time, as a database does it with one statement. */
function with_state( callable $use ) {
	$file = fopen( $GLOBALS['state_file'], 'c+' );
	flock( $file, LOCK_EX );
	$state  = json_decode( (string) stream_get_contents( $file ), true ) ?: array( 'options' => array(), 'orders' => array() );
	$before = $state;
	$result = $use( $state );
	if ( $state !== $before ) {
		ftruncate( $file, 0 );
		rewind( $file );
		fwrite( $file, json_encode( $state ) );
	}
	fclose( $file );
	return $result;
}

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
function esc_html__( $text ) { return htmlspecialchars( $text ); }
function esc_html( $text ) { return htmlspecialchars( $text ); }
function esc_url( $text ) { return htmlspecialchars( $text ); }
function plugin_basename( $file ) { return basename( dirname( $file ) ) . '/' . basename( $file ); }
function admin_url( $path ) { return 'https://shop.example/wp-admin/' . $path; }
function home_url( $path = '' ) { return get_option( 'home', 'https://shop.example' ) . $path; }
function plugins_url( $path ) { return 'https://shop.example/plugins/' . $path; }
function wp_register_script( $handle, $url, $needs ) { $GLOBALS['scripts'][ $handle ] = $needs; }
function wp_json_encode( $value ) { return json_encode( $value ); }
function wp_unslash( $value ) { return $value; }
function wp_generate_password() { return bin2hex( random_bytes( 6 ) ); }
function wp_specialchars_decode( $text ) { return htmlspecialchars_decode( $text ); }
function wp_parse_url( $url ) { return parse_url( $url ); }
function wp_cache_delete() {}
function human_time_diff() { return '1 minute'; }
function get_option( $name, $default = false ) {
	return with_state( fn( &$state ) => $state['options'][ $name ] ?? $default );
}
function update_option( $name, $value ) {
	with_state( function ( &$state ) use ( $name, $value ) { $state['options'][ $name ] = $value; } );
}
function get_transient( $name ) { return get_option( "transient $name" ); }
function set_transient( $name, $value ) { update_option( "transient $name", $value ); }
function get_woocommerce_currency() { return 'USD'; }
function wc_get_price_decimals() { return 2; }
function wc_clean( $value ) { return $value; }
function absint( $value ) { return abs( (int) $value ); }
function wc_price( $amount, array $options ) { return '<b>' . number_format( (float) $amount, 2 ) . '&nbsp;' . $options['currency'] . '</b>'; }
function wp_strip_all_tags( $text ) { return strip_tags( $text ); }
function wc_print_notice( $text ) { $GLOBALS['notices'][] = $text; }
function is_order_received_page() { return '' !== $GLOBALS['page']; }
function is_view_order_page() { return false; }
function get_query_var() { return $GLOBALS['page']; }
function wc_get_order_statuses() { return array( 'wc-pending' => 'Pending payment' ); }
function wc_get_container() {
	return new class() {
		public function get() { return $this; }
		public function remove( $id ) { unset( $GLOBALS['cached'][ $id ] ); }
	};
}
class WC_Data_Store {
	public static function load() { return new self(); }
	public function has_callable() { return false; }
}
function wc_get_logger() {
	return new class() {
		public function error( $text ) { fwrite( STDERR, "log: $text\n" ); }
	};
}
function wc_get_order( $id ) {
	$GLOBALS['cached'][ $id ] ??= with_state( fn( &$state ) => $state['orders'][ $id ] ?? null );
	return null === $GLOBALS['cached'][ $id ] ? false : new WC_Order( $id, $GLOBALS['cached'][ $id ] );
}
function wc_get_orders( array $query ) {
	$found = array();
	foreach ( with_state( fn( &$state ) => $state['orders'] ) as $id => $order ) {
		foreach ( $order['meta'] as $entry ) {
			if ( $entry['key'] === $query['meta_key'] && $entry['value'] === $query['meta_value'] ) {
				$found[] = $id;
			}
		}
	}
	sort( $found );
	return array_slice( 'ASC' === $query['order'] ? $found : array_reverse( $found ), 0, $query['limit'] );
}
function is_wp_error( $value ) { return $value instanceof WP_Error; }
function wp_remote_retrieve_response_code( $response ) { return $response['status']; }
function wp_remote_retrieve_body( $response ) { return $response['body']; }
function wp_remote_request( $url, array $arguments ) {
	$lines = array();
	with_state( function ( &$state ) { $state['options']['requests'] = ( $state['options']['requests'] ?? 0 ) + 1; } );
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
	public function esc_like( $text ) { return $text; }
	public function suppress_errors( $is_on = true ) { return false; }
	public function get_var( $query ) {
		[ $text, $values ] = $query;
		if ( false === strpos( $text, 'LIKE' ) ) {
			return get_option( $values[0], null );
		}
		$options = with_state( fn( &$state ) => $state['options'] );
		$found   = array_filter( $options, fn( $value, $name ) => 0 === strpos( $name, rtrim( $values[0], '%' ) ) && strcmp( $value, $values[1] ) > 0, ARRAY_FILTER_USE_BOTH );
		return array_key_first( $found );
	}
	public function query( $query ) {
		return with_state( fn( &$state ) => self::run( $state['options'], ...$query ) );
	}
	private static function run( &$options, $text, $values ) {
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
		if ( ( $options[ $values[0] ] ?? null ) === $values[1] ) {
			unset( $options[ $values[0] ] );
		}
		return 1;
	}
}
$wpdb = new Wpdb_Options();

/** An order as WooCommerce's CRUD shows it: changes are stored by save(), and each order is a copy. */
class WC_Order {
	private $id;
	private $data;
	private $changes = array();
	public static function generate_meta_cache_key( $id, $group ) { return "$group $id"; }
	public function __construct( $id, array $data ) {
		$this->id   = $id;
		$this->data = $data;
	}
	public function get_id() { return (int) $this->id; }
	public function get_order_number() { return (string) $this->id; }
	public function get_order_key() { return 'wc_order_' . $this->id; }
	public function get_amount() { return $this->data['total']; }
	public function get_total() { return $this->data['total']; }
	public function get_currency() { return $this->data['currency']; }
	public function get_status() { return $this->data['status']; }
	public function get_payment_method() { return $this->data['method']; }
	public function get_payment_method_title() { return $this->data['method']; }
	public function needs_payment() { return $this->has_status( array( 'pending', 'failed' ) ); }
	public function get_checkout_payment_url() { return home_url( '/pay?order=' . $this->id ); }
	public function get_meta( $key, $single = true ) {
		$found = array_values( array_filter( $this->get_meta_data(), fn( $entry ) => $entry->key === $key ) );
		return $single ? ( $found[0]->value ?? '' ) : $found;
	}
	public function get_meta_data() {
		return array_map(
			fn( $entry ) => new class( $entry ) {
				public $id, $key, $value;
				public function __construct( $entry ) { [ 'id' => $this->id, 'key' => $this->key, 'value' => $this->value ] = $entry; }
				public function get_changes() { return array(); }
			},
			$this->data['meta']
		);
	}
	public function add_meta_data( $key, $value ) { $this->data['meta'][] = array( 'id' => 0 ) + compact( 'key', 'value' ); }
	public function delete_meta_data( $key ) {
		$this->data['meta']    = array_values( array_filter( $this->data['meta'], fn( $entry ) => $entry['key'] !== $key ) );
		$this->changes['meta'] = $key;
	}
	public function update_meta_data( $key, $value ) {
		$this->delete_meta_data( $key );
		$this->add_meta_data( $key, $value );
	}
	public function add_order_note( $text ) {
		with_state( function ( &$state ) use ( $text ) { $state['orders'][ $this->id ]['notes'][] = $text; } );
	}
	public function has_status( $status ) { return in_array( $this->data['status'], (array) $status, true ); }
	public function is_paid() { return $this->has_status( array( 'processing', 'completed' ) ); }
	public function update_status( $status, $note = '' ) {
		$this->data['status'] = $status;
		$this->add_order_note( $note );
		if ( in_array( $this->get_id(), with_state( fn( &$state ) => $state['options']['unsaved'] ?? array() ), true ) ) {
			return false;
		}
		$this->save();
		return true;
	}
	public function payment_complete( $transaction ) {
		if ( ! $this->has_status( array( 'on-hold', 'pending', 'failed', 'cancelled' ) ) ) {
			return false;
		}
		// E-mails and stock take their time, in which other processes read the order.
		usleep( 300000 );
		with_state( function ( &$state ) { $state['orders'][ $this->id ]['completions'][] = getmypid(); } );
		$this->data['transaction'] = $transaction;
		$this->data['status']      = 'processing';
		$this->save();
		return true;
	}
	public function get_changes() { return $this->changes; }
	public function save() {
		foreach ( $this->data['meta'] as &$entry ) {
			$entry['id'] = 1;
		}
		unset( $entry );
		$this->changes = array();
		with_state(
			function ( &$state ) {
				$stored = $state['orders'][ $this->id ];
				// Notes and completions are rows of other tables.
				$state['orders'][ $this->id ] = array_merge( $this->data, array_intersect_key( $stored, array( 'notes' => 0, 'completions' => 0 ) ) );
			}
		);
		$GLOBALS['cached'][ $this->id ] = $this->data;
		do_action( 'woocommerce_update_order', (int) $this->id, $this );
	}
}

abstract class WC_Payment_Gateway {
	public $id, $method_title, $method_description, $has_fields, $supports, $title, $description, $form_fields, $settings;
	public function init_settings() {
		$this->settings = get_option( 'woocommerce_till_settings', array() );
	}
	public function payment_fields() {}
	public function admin_options() {}
	public function generate_password_html( $key, $data ) { return 'value="' . $this->get_option( $key ) . '"'; }
	public function validate_password_field( $key, $value ) { return trim( (string) $value ); }
	public function get_description_html( $data ) { return $data['description']; }
	public function get_option( $name ) { return $this->settings[ $name ] ?? $this->form_fields[ $name ]['default'] ?? ''; }
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
			update_option( $command['option'] ?? 'woocommerce_till_settings', $command['value'] ?? $command['settings'] );
			$gateway->init_settings();
			$answers[] = null;
			break;
		case 'option':
			$answers[] = get_option( $command['option'], null );
			break;
		case 'order':
			with_state(
				function ( &$state ) use ( $id, $command ) {
					$state['orders'][ $id ] = array_merge(
						array( 'status' => 'pending', 'method' => 'till', 'currency' => 'USD', 'meta' => array(), 'notes' => array(), 'completions' => array() ),
						$state['orders'][ $id ] ?? array(),
						$command['data']
					);
				}
			);
			unset( $cached[ $id ] );
			$answers[] = null;
			break;
		case 'copy':
			with_state(
				function ( &$state ) use ( $id, $command ) {
					$state['orders'][ $command['to'] ] = array( 'status' => 'pending', 'notes' => array(), 'completions' => array() ) + $state['orders'][ $id ];
				}
			);
			$answers[] = null;
			break;
		case 'save':
			wc_get_order( $id )->save();
			$answers[] = null;
			break;
		case 'refund':
			do_action( 'woocommerce_order_refunded', $id, $command['refund'] );
			$answers[] = null;
			break;
		case 'rest':
			$response = new class( $gateway ) {
				private $data;
				public function __construct( $gateway ) {
					foreach ( $gateway->form_fields as $name => $field ) {
						$this->data['settings'][ $name ] = array( 'type' => $field['type'] ?? 'text', 'value' => $gateway->get_option( $name ) );
					}
				}
				public function get_data() { return $this->data; }
				public function set_data( $data ) { $this->data = $data; }
			};
			$answers[] = apply_filters( 'woocommerce_rest_prepare_payment_gateway', $response, $gateway )->get_data();
			break;
		case 'decimals':
			$answers[] = array_map( array( 'Till_Money', 'decimals' ), $command['currencies'] );
			break;
		case 'total':
			$answers[] = Till_Money::total_of( wc_get_order( $id ) );
			break;
		case 'check':
			$check     = new Till_Check( $gateway );
			$answers[] = array( 'errors' => (object) $check->errors, 'facts' => $check->facts, 'choices' => $check->choices, 'secret' => $gateway->generate_password_html( 'api_key', array() ) );
			break;
		case 'pay':
			try {
				$answers[] = $gateway->process_payment( $id );
			} catch ( Exception $failure ) {
				$answers[] = array( 'result' => 'failure', 'message' => $failure->getMessage() );
			}
			break;
		case 'return':
			$page        = $id;
			$_GET['key'] = wc_get_order( $id )->get_order_key();
			do_action( 'template_redirect' );
			do_action( 'woocommerce_before_thankyou', $id );
			$answers[] = array(
				'notices' => $notices,
				'text'    => apply_filters( 'woocommerce_thankyou_order_received_text', 'Thank you.', wc_get_order( $id ) ),
			);
			$page      = '';
			$notices   = array();
			break;
		case 'deliver':
			$answers[] = Till_Receiver::answer( $command['body'], $command['id'] ?? '', $command['timestamp'] ?? '', $command['signature'] ?? '' );
			break;
		case 'may cancel':
			$answers[] = apply_filters( 'woocommerce_cancel_unpaid_order', true, wc_get_order( $id ) );
			break;
		case 'may sync':
			$answers[] = apply_filters( 'woocommerce_hpos_enable_sync_on_read', true );
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
			$answers[] = with_state( fn( &$state ) => $state['orders'][ $id ] );
			break;
	}
}
do_action( 'shutdown' );
echo json_encode( $answers );
