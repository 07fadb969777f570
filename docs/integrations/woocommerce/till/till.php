<?php
/**
 * Plugin Name: Till for WooCommerce
 * Description: Crypto payments into your own wallet, by your own Till.
 * Version: 0.2.0
 * Requires at least: 6.4
 * Requires PHP: 7.4
 * Requires Plugins: woocommerce
 * WC requires at least: 8.2
 * Text Domain: till
 *
 * Orders are read and written with WooCommerce's order methods only, so that they may be in any storage (HPOS).
 */

defined( 'ABSPATH' ) || exit;

define( 'TILL_PLUGIN_FILE', __FILE__ );

add_action(
	'before_woocommerce_init',
	static function () {
		if ( class_exists( '\Automattic\WooCommerce\Utilities\FeaturesUtil' ) ) {
			$declare = array( '\Automattic\WooCommerce\Utilities\FeaturesUtil', 'declare_compatibility' );
			$declare( 'custom_order_tables', TILL_PLUGIN_FILE, true );
			$declare( 'cart_checkout_blocks', TILL_PLUGIN_FILE, true );
		}
	}
);

add_action(
	'plugins_loaded',
	static function () {
		if ( ! class_exists( 'WC_Payment_Gateway' ) ) {
			return;
		}
		$parts = array( 'client', 'signature', 'lock', 'store', 'shop', 'money', 'order', 'check', 'settings', 'gateway', 'receiver', 'page', 'release', 'refund' );
		foreach ( $parts as $part ) {
			require_once __DIR__ . "/includes/class-till-$part.php";
		}
		add_filter(
			'woocommerce_payment_gateways',
			static function ( $gateways ) {
				$gateways[] = 'Till_Gateway';
				return $gateways;
			}
		);
		add_filter(
			'plugin_action_links_' . plugin_basename( TILL_PLUGIN_FILE ),
			static function ( $links ) {
				array_unshift( $links, '<a href="' . esc_url( Till_Settings::address() ) . '">' . esc_html__( 'Settings', 'till' ) . '</a>' );
				return $links;
			}
		);
		add_action( 'woocommerce_api_till', array( 'Till_Receiver', 'receive' ) );
		add_action( 'woocommerce_order_refunded', array( 'Till_Refund', 'recorded' ), 10, 2 );
		add_filter( 'woocommerce_hpos_enable_sync_on_read', array( 'Till_Store', 'may_sync' ) );
		add_filter( 'woocommerce_cancel_unpaid_order', array( 'Till_Gateway', 'may_cancel' ), 10, 2 );
		add_filter( 'woocommerce_rest_prepare_payment_gateway', array( 'Till_Settings', 'without_secrets' ), 10, 2 );
		Till_Page::register();
		Till_Release::register();
	}
);

add_action(
	'woocommerce_blocks_payment_method_type_registration',
	static function ( $registry ) {
		require_once __DIR__ . '/includes/class-till-blocks.php';
		$registry->register( new Till_Blocks() );
	}
);
