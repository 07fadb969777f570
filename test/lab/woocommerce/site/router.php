<?php
// The router of PHP's built-in server: files as they are, folders by their index.php, everything else by WordPress.
$root = $_SERVER['DOCUMENT_ROOT'];
$path = rawurldecode( (string) parse_url( $_SERVER['REQUEST_URI'], PHP_URL_PATH ) );
$types = array( 'js' => 'text/javascript', 'css' => 'text/css' );
$type  = pathinfo( $path, PATHINFO_EXTENSION );
if ( isset( $types[ $type ] ) && is_file( $root . $path ) ) {
	// As web servers in front of WordPress do; the built-in server would let browsers read them again for each page.
	header( "Content-Type: {$types[ $type ]}; charset=utf-8" );
	header( 'Cache-Control: public, max-age=86400' );
	readfile( $root . $path );
	return true;
}
if ( is_file( $root . $path ) ) {
	return false;
}
$index                      = is_file( rtrim( $root . $path, '/' ) . '/index.php' ) ? rtrim( $path, '/' ) . '/index.php' : '/index.php';
$_SERVER['SCRIPT_NAME']     = $index;
$_SERVER['PHP_SELF']        = $index;
$_SERVER['SCRIPT_FILENAME'] = $root . $index;
chdir( dirname( $root . $index ) );
require $root . $index;
