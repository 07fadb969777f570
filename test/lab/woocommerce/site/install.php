<?php
// Steps of setting up a shop, each in a process of its own: a plug-in is loaded only by the process after its activation.
list( , $root, $step ) = $argv;
$_SERVER['HTTP_HOST']   = parse_url( getenv( 'PROVE_URL' ), PHP_URL_HOST );
$_SERVER['REQUEST_URI'] = '/';
if ( 'wordpress' === $step ) {
	define( 'WP_INSTALLING', true );
}
require $root . '/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
require_once ABSPATH . 'wp-admin/includes/plugin.php';

if ( 'wordpress' === $step ) {
	wp_install( 'Tea shop', 'admin', 'shop@example.com', true, '', 'adminpass' );
	update_option( 'permalink_structure', '/%postname%/' );
	switch_theme( $argv[3] );
} elseif ( 'woocommerce' === $step ) {
	$problem = activate_plugin( 'woocommerce/woocommerce.php' );
	if ( is_wp_error( $problem ) ) {
		exit( $problem->get_error_message() );
	}
} elseif ( 'shop' === $step ) {
	$options = array(
		'woocommerce_coming_soon'        => 'no',
		'woocommerce_onboarding_profile' => array( 'skipped' => true ),
		'woocommerce_default_country'    => 'US:CA',
		'woocommerce_currency'           => 'USD',
		'woocommerce_allow_tracking'     => 'no',
		'woocommerce_task_list_hidden'   => 'yes',
		'woocommerce_show_marketplace_suggestions' => 'no',
		// The payment of an order of the shop's own, beside the method that is proved.
		'woocommerce_bacs_settings'      => array( 'enabled' => 'yes', 'title' => 'Bank transfer' ),
	);
	foreach ( $options as $name => $value ) {
		update_option( $name, $value );
	}
	$product = new WC_Product_Simple();
	$product->set_name( 'Green tea' );
	$product->set_slug( 'green-tea' );
	$product->set_regular_price( '12.50' );
	$product->set_manage_stock( true );
	$product->set_stock_quantity( 100000 );
	$product->save();
	( new WC_Shipping_Zone( 0 ) )->add_shipping_method( 'free_shipping' );
	// WooCommerce has counted the methods before.
	WC_Cache_Helper::get_transient_version( 'shipping', true );
	$block = '<!-- wp:woocommerce/checkout --><div class="wp-block-woocommerce-checkout wc-block-checkout is-loading"></div><!-- /wp:woocommerce/checkout -->';
	foreach ( array( 'classic' => '[woocommerce_checkout]', 'block' => $block ) as $kind => $content ) {
		wp_insert_post(
			array(
				'post_type'    => 'page',
				'post_status'  => 'publish',
				'post_title'   => "Checkout $kind",
				'post_name'    => "checkout-$kind",
				'post_content' => $content,
			)
		);
	}
	flush_rewrite_rules();
}
echo 'done';
